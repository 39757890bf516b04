/** Prompts turn after turn, for tests of renderers. */

import { assistant, type Message, type ToolDeclaration } from '../../core/messages.ts';
import type { Renderer, Said } from './renderer.ts';
import { idsOfPrompt, type Prompt, pathAfter, promptAfter, type TokenPath } from './token-path.ts';

export interface History {
  readonly ids: readonly number[];
  readonly messages: readonly Message[];
  readonly said: readonly Said[];
  readonly paths: readonly TokenPath[];
}

export const start: History = { ids: [], messages: [], said: [], paths: [] };

export interface Turn {
  readonly prompt: Prompt;
  readonly promptIds: readonly number[];
  /** Those after what was seen and sampled before. */
  readonly contextIds: readonly number[];
  readonly extendsPrevious: boolean;
}

export function promptOf(
  renderer: Renderer,
  { paths, said }: History,
  fresh: readonly Message[],
  tools?: readonly ToolDeclaration[],
): Turn {
  const prompt = promptAfter(paths, [...said, ...fresh], renderer, tools && { tools });
  return {
    prompt,
    promptIds: [...idsOfPrompt(prompt)],
    contextIds: [...prompt.context],
    extendsPrevious: prompt.extends,
  };
}

export function continued(
  { prompt }: Turn,
  messages: readonly Message[],
  { ids, text }: { readonly ids: readonly number[]; readonly text: string },
): History {
  const completion = { id: messages.length, ids, text };
  const path = pathAfter(prompt, completion);
  return {
    ids: [...path.tokens.toArray()],
    messages: [...messages, assistant(text)],
    said: [...prompt.said, completion],
    paths: [path],
  };
}
