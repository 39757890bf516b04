import { expect, test } from 'vitest';
import type { Episode, Group, Transition } from '../core/episode.ts';
import type { StopReason } from '../core/stop.ts';
import { roleGroups } from '../core/trajectory.ts';
import type { ScoreGroup } from '../env/scores/group-scores.ts';
import type { World } from '../env/world.ts';
import { environmentMetrics } from './environment-metrics.ts';
import { scoreGroups } from './score-groups.ts';
import { unwatched } from './watch.ts';

const step = (reward: number, parts: Partial<Transition> = {}): Transition => ({
  role: 'agent',
  anchor: '',
  action: '',
  valid: true,
  rewards: { agent: reward },
  at: 0,
  environmentMs: 0,
  ...parts,
});

const episode = (member: number, parts: Partial<Episode> = {}): Episode => ({
  key: { step: 1, environment: 'w', split: 'train', task: 0, group: 0, member },
  task: null,
  calls: [],
  transitions: [step(0), step(member)],
  tools: {},
  seats: { agent: { player: 'learner', version: 0 } },
  outcome: { agent: member },
  success: { agent: false },
  stop: 'done',
  ...parts,
});

const group = (members: readonly Episode[]): Group => ({ step: 1, group: 0, members });

async function scored(scoreGroup: ScoreGroup | undefined, members: readonly Episode[], roles = ['agent']) {
  const world = { name: 'w', roles, ...(scoreGroup && { scoreGroup }) } as unknown as World;
  const [only] = await scoreGroups([group(members)], {
    world,
    turnTimeoutMs: 30,
    signal: new AbortController().signal,
    watch: unwatched,
    concurrency: 4,
  });
  return only!;
}

test('scores are stored, and are a part of the outcome and of the last turn', async () => {
  const seen: (readonly Episode[])[] = [];
  const judged = await scored(
    (episodes) => {
      seen.push(episodes);
      return episodes.map((_, rank) => (rank === 0 ? undefined : rank / 2));
    },
    [episode(0), episode(1, { stop: 'timeout' }), episode(2), episode(3)],
  );
  expect(judged.members.map(({ outcome, scores }) => [outcome.agent, scores])).toEqual([
    [0, [{ by: 'group', rewards: {} }]],
    [1, undefined],
    [2.5, [{ by: 'group', rewards: { agent: 0.5 } }]],
    [4, [{ by: 'group', rewards: { agent: 1 } }]],
  ]);
  // What failed is not shown.
  expect(seen.map((episodes) => episodes.map(({ key }) => key.member))).toEqual([[0, 2, 3]]);
  const [{ members } = { members: [] }] = roleGroups([judged]);
  expect(members.map(({ turns, outcome }) => [turns.at(-1)?.reward, outcome]).at(-1)).toEqual([4, 4]);
});

test('branches are shown whole, and what a judge does to what it is shown changes nothing', async () => {
  const branchedFrom = { episode: episode(0).key, transition: 0, calls: 0 };
  const judged = await scored(
    (episodes) => {
      const lengths = episodes.map(({ transitions }) => transitions.length);
      for (const { transitions } of episodes) (transitions as Transition[]).length = 0;
      return lengths;
    },
    [episode(0), episode(1, { branchedFrom, transitions: [step(1)] })],
  );
  expect(judged.members.map(({ outcome, transitions }) => [outcome.agent, transitions.length])).toEqual([
    [2, 2],
    [3, 1],
  ]);
});

test('a list pays turn by turn, those of the prefix of a branch among them', async () => {
  const branchedFrom = { episode: episode(0).key, transition: 0, calls: 0 };
  const judged = await scored(
    () => [[0.25, -1], { agent: [0.5, 2] }],
    [episode(0), episode(1, { branchedFrom, transitions: [step(1)] })],
  );
  expect(judged.members.map(({ scores }) => scores)).toEqual([
    [{ by: 'group', rewards: { agent: -0.75 }, turns: { agent: [0.25, -1] } }],
    [{ by: 'group', rewards: { agent: 2.5 }, turns: { agent: [0.5, 2] } }],
  ]);
  const paid = ({ scores: _, ...one }: Episode): Episode => one;
  const before = roleGroups([{ ...judged, members: judged.members.map(paid) }])[0]!.members;
  const after = roleGroups([judged])[0]!.members;
  const more = after.map(({ turns }, member) =>
    turns.map(({ reward }, k) => reward - before[member]!.turns[k]!.reward),
  );
  expect(more).toEqual([
    [0.25, -1],
    [0.5, 2],
  ]);
});

test.each<[string, ScoreGroup, StopReason, string]>([
  [
    'throws',
    () => {
      throw new Error('no judge');
    },
    'failed:grader',
    'no judge',
  ],
  ['rejects with something hostile', () => Promise.reject({ toString: 1 }), 'failed:grader', 'an object'],
  ['never settles', () => new Promise(() => {}), 'timeout', 'took longer than 30 ms'],
  ['gives too few', () => [1], 'failed:grader', 'Seen: 1 scores. Allowed: an array with 2 scores'],
  ['gives nothing', () => undefined as never, 'failed:grader', 'Seen: undefined'],
  ['gives no number', () => [1, 'good' as never], 'failed:grader', 'Seen: "good". Allowed: a number'],
  [
    'pays for turns that were not taken',
    () => [[1, 2, 3], 1],
    'failed:grader',
    'Seen: 3 rewards of turns for "agent". Allowed: 2, one for each turn',
  ],
  ['gives NaN', () => [1, Number.NaN], 'failed:grader', 'not a finite number'],
  ['names a stranger', () => [1, { nobody: 1 }], 'failed:grader', 'Seen: "nobody" in a score'],
])('a judge that %s labels nothing', async (_, scoreGroup, stop, said) => {
  const { members } = await scored(scoreGroup, [episode(0), episode(1), episode(2, { stop: 'cancelled' })]);
  expect(members.map((member) => [member.stop, member.scores])).toEqual([
    [stop, undefined],
    [stop, undefined],
    ['cancelled', undefined],
  ]);
  expect(members[0]!.failure).toContain('scoring group 1/0 of w');
  expect(members[0]!.failure).toContain(said);
});

test('a judge of several roles scores each, and one that is late is told', async () => {
  const both = { outcome: { a: 0, b: 1 }, success: { a: false, b: true } };
  const { members } = await scored(
    () => [{ a: 2, b: -2 }, { b: 1 }],
    [episode(0, both), episode(1, both)],
    ['a', 'b'],
  );
  expect(members.map(({ outcome }) => outcome)).toEqual([
    { a: 2, b: -1 },
    { a: 0, b: 2 },
  ]);
  let told = false;
  await scored(
    (_, { signal }) =>
      new Promise(() =>
        signal.addEventListener('abort', () => {
          told = true;
        }),
      ),
    [episode(0)],
  );
  expect(told).toBe(true);
});

test('a world without scores leaves groups as they are', async () => {
  const members = [episode(0)];
  expect((await scored(undefined, members)).members).toBe(members);
});

test('metrics are means over the steps that told them; worlds of a mix are told apart; failures are left out', () => {
  const told = (metrics: Readonly<Record<string, number>>, parts: Partial<Episode> = {}) =>
    episode(1, { transitions: [step(0), step(1, { metrics })], ...parts });
  expect(environmentMetrics([told({ depth: 1 }), told({ depth: 4, looks: 2 }), episode(0)])).toEqual({
    'env/depth': 2.5,
    'env/looks': 2,
  });
  expect(
    environmentMetrics([
      told({ 'lake/depth': 3 }, { part: 'lake', success: { agent: true } }),
      told({}, { part: 'lake' }),
      told({}, { part: 'wordle' }),
      told({ 'wordle/depth': 9 }, { part: 'wordle', stop: 'failed:environment' }),
    ]),
  ).toEqual({
    'env/lake/depth': 3,
    'env/lake/episodes': 2,
    'env/lake/reward': 1,
    'env/lake/success': 0.5,
    'env/wordle/episodes': 1,
    'env/wordle/reward': 1,
    'env/wordle/success': 0,
  });
  expect(environmentMetrics([episode(0)])).toEqual({});
});
