/** What the environment or an agent reads of an act, and what credit is told of it, where a strategy has a say in that. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import type { Facts } from '../../core/facts.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/json/json.ts';
import { plainCopy } from '../../core/json/plain-copy.ts';
import type { Reply } from '../../core/messages.ts';
import { parseFacts } from '../../env/facts.ts';
import type { ActionProtocol } from '../../env/protocol.ts';
import type { Boundary } from '../boundary.ts';
import { callStrategy } from './checks.ts';
import type { ActAt } from './next-act.ts';
import type { Setting } from './thread.ts';

type Told = Pick<Setting, 'context'>;

/** An action as the environment is to read it: of a call, the texts in its arguments. */
export function deliveredAction(
  action: string,
  at: ActAt,
  setting: Told,
  protocol: Pick<ActionProtocol, 'tools'>,
  boundary: Boundary,
): string {
  const deliver = deliverIn(at, setting, boundary);
  if (deliver === undefined) return action;
  if (protocol.tools === undefined) return deliver(action);
  const call: unknown = JSON.parse(action);
  const { name, ...rest } = call as JsonObject;
  const given = withTexts(rest, deliver) as JsonObject;
  return canonicalJson(name === undefined ? given : { name, ...given });
}

/** The same of what an agent is told. */
export function deliveredReply<R extends Pick<Reply, 'content'>>(
  reply: R & { readonly toolCalls?: readonly { readonly arguments: JsonObject }[] },
  at: ActAt,
  setting: Told,
  boundary: Boundary,
): R {
  const deliver = deliverIn(at, setting, boundary);
  if (deliver === undefined) return reply;
  const { toolCalls } = reply;
  return {
    ...reply,
    content: deliver(reply.content),
    ...(toolCalls && {
      toolCalls: toolCalls.map((call) => ({ ...call, arguments: withTexts(call.arguments, deliver) })),
    }),
  };
}

function deliverIn(
  { view, thread }: ActAt,
  { context: { strategy, subject } }: Told,
  boundary: Boundary,
): ((text: string) => string) | undefined {
  if (strategy.deliver === undefined) return undefined;
  const now = { ...view, state: thread.state };
  return (text) =>
    boundary.call('policy', 'delivering an act', () => {
      const given: unknown = callStrategy(subject, () => strategy.deliver!(text, now));
      if (typeof given === 'string') return given;
      throw badDefinition(subject, 'must deliver a text', given, 'a string');
    });
}

function withTexts(value: Json, deliver: (text: string) => string): Json {
  if (typeof value === 'string') return deliver(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => withTexts(one, deliver));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, one]) => [key, withTexts(one, deliver)]),
  );
}

/** What the strategy lets credit know of the turn; undefined where it says nothing. */
export function factsIn(
  { view, thread }: ActAt,
  { context: { strategy, subject } }: Told,
  boundary: Boundary,
): Facts | undefined {
  if (strategy.facts === undefined) return undefined;
  return boundary.call('policy', 'asking a context for facts', () =>
    callDefinition(subject, () => {
      const given = plainCopy(strategy.facts!({ ...view, state: thread.state }), 'facts');
      if (given.ok) return parseFacts(given.value, `${subject}: facts()`);
      throw badDefinition(subject, 'must give plain JSON as facts', given.seen, given.allowed);
    }),
  );
}
