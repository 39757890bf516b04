import { expect, test } from 'vitest';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { teacherGaps } from './teacher-gaps.ts';
import type { Trainer } from './trainer.ts';

/** Scores the token at position t with -t / 10. */
function trainerWith() {
  const rows: number[][] = [];
  const teacher = {
    score: async (asked: readonly { readonly ids_T: Int32Array }[]) => {
      rows.push(...asked.map(({ ids_T }) => [...ids_T]));
      return { logprobs: asked.map(({ ids_T }) => Float32Array.from(ids_T, (_, token) => -token / 10)) };
    },
  };
  return { trainer: { teacher: () => teacher } as unknown as Trainer, rows };
}

const trajectoriesOf = (...turns: Parameters<typeof playedEpisode>[1][number][]) =>
  roleGroups([madeGroup(playedEpisode(0, turns))])[0]!.members;

test('each sampled token is compared, turn by turn, on every path, and observations are not', async () => {
  const { trainer, rows } = trainerWith();
  const trajectories = trajectoriesOf(
    { written: 2, call: { logprobs: [-1, -2] } },
    { written: 1, call: { logprobs: [-0.5] } },
    { written: 1, anew: true, call: { logprobs: [-4] } },
  );
  const facts = await teacherGaps.find(trainer, trajectories);
  expect(rows).toEqual([
    [0, 100, 101, 1, 200],
    [2, 300],
  ]);
  const gaps = facts[0]!.map((turn) => turn.teacherGaps!.map((gap) => Math.round(100 * gap) / 100));
  expect(gaps).toEqual([[-0.9, -1.8], [-0.1], [-3.9]]);
  expect(teacherGaps.figures!(facts)['distill/reverse_kl']).toBeCloseTo((-0.9 - 1.8 - 0.1 - 3.9) / 4, 6);
});

test('a turn of somebody else has no gaps, and a step without tokens asks nobody', async () => {
  const { trainer, rows } = trainerWith();
  const facts = await teacherGaps.find(trainer, trajectoriesOf({ call: { trainable: 'scripted' } }));
  expect(facts).toEqual([[{ teacherGaps: [] }]]);
  expect(rows).toEqual([]);
  expect(teacherGaps.figures!(facts)).toEqual({ 'distill/reverse_kl': 0 });
});
