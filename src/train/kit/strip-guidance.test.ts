import { expect, test } from 'vitest';
import type { Episode } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { promptOf, samplesOfTrajectory } from '../../core/sample.ts';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { renderCalls } from '../../synth/render-calls.ts';
import { fakeEngine } from '../../testing/fake-engine.ts';
import type { TrainConfig } from '../config/config.ts';
import { strippedGroups } from './strip-guidance.ts';

const tokenizer = WordTokenizer.fromTexts(new Set(['start go left wall now']));
const renderer = wordRenderer(tokenizer, 2);
const words = (ids: Iterable<number>): string => tokenizer.decode(Array.from(ids));

/** Two turns; the second call shows the opening again where it begins anew. */
function guidedEpisode(later: string, window = false): Episode {
  const { calls, ...episode } = playedEpisode(0, [{ written: 1 }, { written: 1 }]);
  const written = calls.map((call, id) => ({
    ...call,
    text: 'left',
    ids: Int32Array.from(renderer.completionIds('left')),
    logprobs: Float32Array.of(-1, -2),
    messages: id === 0 ? [user('start'), user('go left')] : [user(later)],
    ...(window && id === 1 && { parts: [{ shown: 0 }, { shown: 1 }] }),
  }));
  return {
    ...episode,
    stripped: [user('go left')],
    calls: renderCalls({ ...episode, calls: written }, renderer),
  };
}

/** Says of the token at place t that its log-probability is -t. */
const engine = fakeEngine({
  score: async ({ rows }) => ({ logprobs: rows.map(({ ids_T }) => Float32Array.from(ids_T, (_, t) => -t)) }),
});
const config = { rollout: { temperature: 1 } } as TrainConfig;

async function learnedFrom(episode: Episode) {
  const { groups, metrics } = await strippedGroups(
    { renderer, engine, config },
    roleGroups([madeGroup(episode)]),
  );
  const trajectory = groups[0]!.members[0]!;
  return { trajectory, metrics, samples: samplesOfTrajectory(trajectory) };
}

test.each([false, true])(
  'what was said to help is in no prompt; completions stay, and the policy reads them anew (window: %s)',
  async (window) => {
    const episode = guidedEpisode('wall', window);
    const { trajectory, samples, metrics } = await learnedFrom(episode);
    expect(metrics).toEqual({ 'guidance/episodes': 1, 'guidance/stripped': 1 });
    for (const [index, call] of trajectory.calls.entries()) {
      expect(words(promptOf(episode.calls[index]!, episode.calls))).toContain('go left');
      expect(words(promptOf(call, trajectory.calls))).not.toContain('go');
      expect(call.ids).toEqual(episode.calls[index]!.ids);
    }
    for (const { ids_T, mask_T, logprobs_T } of samples)
      expect([...logprobs_T]).toEqual(Array.from(ids_T, (_, t) => (mask_T[t] ? -t : 0)));
    // The record says what happened.
    expect(trajectory.episode).toBe(episode);
    expect(trajectory.turns.flatMap(({ calls }) => calls)).toEqual(trajectory.calls);
  },
);

test('an episode that nobody guided, and one whose guidance cannot be told apart, stay as they were sampled', async () => {
  const same = guidedEpisode('go left');
  expect(await learnedFrom(same)).toMatchObject({ metrics: { 'guidance/stripped': 0 } });
  const { stripped: _, ...plain } = guidedEpisode('wall');
  const { trajectory, metrics } = await learnedFrom(plain);
  expect(metrics).toEqual({});
  expect(trajectory.calls).toBe(plain.calls);
});
