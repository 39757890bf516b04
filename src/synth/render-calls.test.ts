/** Calls whose completions are encoded anew know nothing of the ids that they had. */

import { expect, test } from 'vitest';
import { madeCall, madeEpisode, madeGroup } from '../core/testing/made-episodes.ts';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { renderCalls, renderDemonstrations } from './render-calls.ts';

const tokenizer = WordTokenizer.fromTexts(['left right']);
const renderer = wordRenderer(tokenizer, 1);

/** Of a vocabulary in which 8 was left, and 9 right. */
const sampled = madeCall(0, [8, 3], {
  text: 'left',
  choices: [Int32Array.of(8, 3), Int32Array.of(9, 3)],
  top: { ids: Int32Array.of(8, 3), logprobs: Float32Array.of(-0.1, -0.1) },
  entropy: 0.7,
});

test('what the old ids were chosen among, and what a teacher would have written for them, goes with them', () => {
  const { members } = renderDemonstrations(madeGroup(madeEpisode(0, [sampled], [])), renderer);
  const [call] = members[0]!.calls;
  expect(call!.ids).toEqual(Int32Array.from(renderer.completionIds('left')));
  for (const known of ['choices', 'top', 'entropy']) expect(call).not.toHaveProperty(known);
});

test('completions that stay keep all of it', () => {
  const [call] = renderCalls({ calls: [sampled], tools: {} }, renderer);
  expect(call).toMatchObject({ ids: sampled.ids, choices: sampled.choices, top: sampled.top, entropy: 0.7 });
});
