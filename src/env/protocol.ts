/**
 * Action protocols: how an action is found in what the policy wrote, and how a script would have written it.
 *
 * When `parse` fails, the rollout steps the session with `NO_ACTION` and puts `problem` before the next observation
 * (`tellProblem`). The environment never sees the unparsed text, so a legal word outside its tags cannot slip through,
 * and it charges its own price for the action it could not read.
 */

import type { JsonObject } from '../core/json/json.ts';
import type { Message, ToolDeclaration } from '../core/messages.ts';

export type ParsedAction =
  | { readonly ok: true; readonly action: string }
  /** `problem` is told to the agent. */
  | { readonly ok: false; readonly problem: string };

export interface ActionProtocol {
  readonly name: 'raw' | 'tags' | 'tools' | 'calls';
  parse(text: string): ParsedAction;
  /** The text that `parse` would read as `action`. */
  format(action: string): string;
  /** What stands before the action in a text that `parse` reads: the whole of one without an action. */
  thought?(text: string): string;
  /** What the agent is told about the format, for models that can read. */
  readonly instructions?: string;
  /** The tools that can be called, as function declarations, where actions are tool calls. */
  readonly tools?: readonly JsonObject[];
  /** Words without a call are an answer, which ends the episode. */
  readonly answers?: boolean;
}

/** The tools that can be called; undefined where actions are no calls. */
export function declaredTools({
  tools,
}: Pick<ActionProtocol, 'tools'>): readonly ToolDeclaration[] | undefined {
  return tools?.map((tool) => (tool.function ?? tool) as unknown as ToolDeclaration);
}

/** The action of a turn in which none could be read. Every environment answers it with `valid: false`. */
export const NO_ACTION = '';

/** The next messages with `problem` at their head, so that the agent reads what it did wrong before what it sees. */
export function tellProblem(problem: string, messages: readonly Message[]): readonly Message[] {
  const [first, ...rest] = messages;
  if (first === undefined) return [{ role: 'user', content: problem }];
  return [{ ...first, content: first.content === '' ? problem : `${problem}\n${first.content}` }, ...rest];
}
