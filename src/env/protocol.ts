/** Action protocols: how an action is found in what the policy wrote, and how a script would have written it. */

export type ParsedAction =
  | { readonly ok: true; readonly action: string }
  /** `problem` is told to the agent. */
  | { readonly ok: false; readonly problem: string };

export interface ActionProtocol {
  readonly name: 'raw' | 'tags' | 'tools';
  parse(text: string): ParsedAction;
  /** The text that `parse` would read as `action`. */
  format(action: string): string;
  /** What the agent is told about the format, for models that can read. */
  readonly instructions?: string;
}
