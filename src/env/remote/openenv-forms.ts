/** How actions are written to an OpenEnv server, and how its observations are read: both follow from what its schema says. */

import { z } from 'zod';
import type { JsonObject } from '../../core/json/json.ts';
import { type Message, user } from '../../core/messages.ts';
import { declaredTool } from '../declared-tools.ts';
import { type ActionProtocol, NO_ACTION } from '../protocol.ts';
import { rawProtocol } from '../raw-protocol.ts';
import { toolProtocol } from '../tool-protocol.ts';

export interface ActionForm {
  readonly protocol: ActionProtocol;
  /** The fields of an action; undefined where `action` is none. */
  read(action: string): JsonObject | undefined;
}

/** Text where an action is one string, and a call of a tool named `act` where it has more parts. */
export function actionForm(schema: JsonObject): ActionForm {
  const { metadata: _, ...properties } = (schema.properties ?? {}) as JsonObject;
  const [[field, only] = [], ...others] = Object.entries(properties);
  if (field !== undefined && others.length === 0 && (only as JsonObject | null)?.type === 'string') {
    return { protocol: rawProtocol, read: (action) => ({ [field]: action }) };
  }
  const parameters = { ...schema, properties };
  const description =
    typeof schema.description === 'string' ? schema.description : 'Acts in the environment.';
  return {
    protocol: toolProtocol([declaredTool({ name: 'act', description, parameters })]),
    read: (action) =>
      action === NO_ACTION ? undefined : (JSON.parse(action) as { arguments: JsonObject }).arguments,
  };
}

const chatMessages = z
  .array(z.object({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.string() }))
  .min(1);

/** What the agent reads: the messages of the observation where it has some, its only text, or all of it as JSON. */
export function messagesOf(observation: JsonObject): readonly Message[] {
  if ('messages' in observation) {
    if (Array.isArray(observation.messages) && observation.messages.length === 0) return [];
    const parsed = chatMessages.safeParse(observation.messages);
    if (parsed.success) return parsed.data;
  }
  const values = Object.values(observation);
  const [first] = values;
  if (values.length === 1 && typeof first === 'string') return [user(first)];
  return [user(JSON.stringify(observation))];
}
