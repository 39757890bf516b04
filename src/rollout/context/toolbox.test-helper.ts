/** A world of a dozen tools, of which a task needs two, and a scripted player who knows which. */

import { z } from 'zod';
import type { Episode } from '../../core/episode.ts';
import { byPolicy, madeKey } from '../../core/testing/made-episodes.ts';
import { defineTools } from '../../env/live/define-tools.ts';
import { defineTool } from '../../env/tool.ts';
import type { World } from '../../env/world.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import type { CompletionRequest, Policy } from '../../policy/policy.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { runEpisode } from '../episode.ts';
import { unwatched } from '../watch.ts';
import type { ContextStrategy } from './strategy.ts';

const THINGS = ['fig', 'plum', 'pear', 'nut', 'leek', 'oat'];
const PRICES = THINGS.map((_, index) => `${index + 2} coins`);

/** Two tools for each thing: one tells its price, the other tells its weight. */
const tools = THINGS.flatMap((thing, index) =>
  ['price', 'weight'].map((kind) =>
    defineTool({
      name: `${thing}_${kind}`,
      description: `The ${kind} of a ${thing}.`,
      parameters: z.object({ of: z.string().optional() }),
      run: () => (kind === 'price' ? PRICES[index]! : `${kind} of ${thing} `.repeat(12).trim()),
    }),
  ),
);

/** Say what a thing costs; with `weigh`, say its weight, word for word, which is long. */
export const toolbox = defineTools({
  name: 'toolbox',
  description: 'Say what two tools say.',
  maxTurns: 12,
  tasks: [
    { first: 'fig', second: 'plum' },
    { first: 'nut', second: 'oat' },
    { first: 'leek', second: 'pear' },
  ],
  tools,
  setup: () => null,
  prompt: ({ first, second }) => `price of ${first} then weight of ${second}`,
  score: ({ task, answer, calls }) => ({
    reward:
      calls[0]?.tool === `${task.first}_price` && answer === `weight of ${task.second} `.repeat(12).trim()
        ? 1
        : 0,
  }),
  solve: ({ task, calls }) => {
    if (calls.length === 0) return { tool: `${task.first}_price` };
    if (calls.length === 1) return { tool: `${task.second}_weight`, arguments: { of: task.second } };
    return { answer: calls[1]!.result };
  },
});

export const toolboxWorld = (): World => toolbox.create(toolbox.options.parse({}));

/** Every word that may be read or written there. */
const words = [
  ...THINGS.flatMap((thing) => [thing, `${thing}_price`, `${thing}_weight`]),
  ...'price of then weight tools search_tools remove_tools show find name: from: query: names: of: <call>'.split(
    ' ',
  ),
  ...'prune search none Loaded Loaded: Removed Not loaded: is not loaded coins $r2 r1 r2 r3 $r1 omitted'.split(
    ' ',
  ),
  ...Array.from({ length: 10 }, (_, digit) => String(digit)),
];
export const tokenizer = WordTokenizer.fromTexts(words);
export const renderer = wordRenderer(tokenizer, 48);

export interface Played {
  readonly episode: Episode;
  /** What was read before each completion. */
  readonly prompts: readonly string[];
  readonly requests: readonly CompletionRequest[];
}

/** The expert plays, or whoever says something. */
export async function playToolbox(
  strategy: ContextStrategy,
  options: object,
  say?: (request: CompletionRequest, at: number) => string,
  more: { readonly trained?: boolean } = {},
): Promise<Played> {
  const world = toolboxWorld();
  const requests: CompletionRequest[] = [];
  const expert = scriptedPolicy(world, { player: () => 'expert', randomRate: 0, renderer });
  const speaker: Policy = {
    author: byPolicy('learner', 1),
    complete: async (request) => {
      const text = say!(request, requests.length - 1);
      const ids = Int32Array.from(renderer.completionIds(text));
      const logprobs = new Float32Array(ids.length).fill(-1);
      return { ids, logprobs, text, finish: 'stop', by: byPolicy('learner', 1), trainable: true };
    },
  };
  const inner = say ? speaker : expert;
  const policy: Policy = {
    author: inner.author,
    complete: (request) => {
      requests.push(request);
      return inner.complete(request);
    },
  };
  const episode = await runEpisode(
    { key: madeKey(), task: { first: 'fig', second: 'plum' } },
    {
      ...{ world, policy, renderer, context: strategy.create(options, more) },
      sampling: { temperature: 1, topP: 1, topK: 0 },
      ...{ maxTurns: 12, contextLength: 1000, turnTimeoutMs: 5000, seed: 1 },
      ...{ signal: new AbortController().signal, watch: unwatched },
    },
  );
  const prompts = requests.map(({ messages }) => messages.map(({ content }) => content).join(' | '));
  return { episode, prompts, requests };
}
