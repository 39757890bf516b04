/** Every turn of an episode is as much work as the first: neither tokens nor lists of what was said before are gone through again. */

import { expect, test } from 'vitest';
import { world as maze } from '../../../envs/maze/index.ts';
import { byPolicy, madeKey } from '../../core/testing/made-episodes.ts';
import { noIds, type Renderer, wordRenderer } from '../../model/chat/renderer.ts';
import { handled } from '../../model/chat/token-runs.ts';
import { wordChatRenderer } from '../../model/chat/word-chat.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { runEpisode } from '../episode.ts';
import { unwatched } from '../watch.ts';
import { fullContext } from './contexts.ts';
import { lastTurns } from './last-turns.ts';
import type { Context } from './strategy.ts';

const tokenizer = WordTokenizer.fromTexts(['up down left right wall free']);

/** What an episode of so many turns handles, in which the agent bumps into a wall at every turn. */
async function handledIn(
  turns: number,
  renderer: Renderer,
  context: Context = fullContext,
): Promise<readonly [tokens: number, items: number]> {
  const world = maze.create(maze.options.parse({ maxTurns: turns }));
  const author = byPolicy();
  const before = { ...handled };
  let given = 0;
  const { transitions } = await runEpisode(
    { key: madeKey(), task: world.tasks('train').at(0) },
    {
      world,
      policy: {
        author,
        complete: async ({ append }) => {
          given += append.length;
          const ids = Int32Array.from(renderer.completionIds('up'));
          const logprobs = new Float32Array(ids.length);
          return { ids, logprobs, text: 'up', finish: 'stop', by: author, trainable: true };
        },
      },
      renderer,
      context,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: turns,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: 10_000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
  expect(transitions).toHaveLength(turns);
  return [handled.tokens - before.tokens + given, handled.items - before.items];
}

test.each([
  ['one word a turn', wordRenderer(tokenizer, 1)],
  ['several words', wordRenderer(tokenizer, 4)],
  ['chats', wordChatRenderer(tokenizer, 4)],
  ['no ids', noIds],
])('twice the turns are twice the work: %s', async (_, renderer) => {
  const [few, twice, more] = [
    await handledIn(25, renderer),
    await handledIn(50, renderer),
    await handledIn(100, renderer),
  ];
  expect(few[1]).toBeGreaterThan(25);
  // The same for each turn, whichever it is.
  expect(more[0] - twice[0]).toBe(2 * (twice[0] - few[0]));
  expect(more[1] - twice[1]).toBe(2 * (twice[1] - few[1]));
});

test('a window that nothing goes from reads no token again, in its first turns and after it gave way', async () => {
  const work = async (turns: number, most: number): Promise<number> => {
    const [tokens] = await handledIn(turns, wordRenderer(tokenizer, 1), lastTurns.create({ turns: most }));
    return tokens;
  };
  const [few, twice, more] = [await work(25, 1000), await work(50, 1000), await work(100, 1000)];
  expect(more - twice).toBe(2 * (twice - few));
  // It gives way once, when the 51st turn would stand in it.
  expect((await work(75, 50)) - (await work(55, 50))).toBe(((twice - few) * 20) / 25);
});
