import { expect, test } from 'vitest';
import type { Trajectory } from '../../core/trajectory.ts';
import { refuel as regression } from '../../objective/rebel.ts';
import { evaluateStep } from '../../objective/testing/evaluate.ts';
import { trainConfigSchema } from '../config.ts';
import { findRecipe } from '../recipes/recipes.ts';
import { againstExpert, bestAndWorst, judged, siblingTurns, twoByTwo } from './pairs.ts';
import type { Example, Side } from './preferences.ts';
import { remember } from './replay.ts';
import { scaledPairs } from './scaled-pairs.ts';
import { twinPairs } from './twins.ts';

/** Each turn samples one token after the token 1; all of the outcome comes with the last. */
const episode = (id: string, tokens: readonly number[], outcome: number, more = {}): Trajectory => ({
  id,
  groupId: 'g',
  role: 'agent',
  policyVersion: 0,
  stop: 'done',
  outcome,
  success: outcome > 0.5,
  turns: tokens.map((token, turn) => ({
    kind: 'act',
    anchor: '',
    messages: [],
    contextIds: [1],
    extendsPrevious: turn > 0,
    ids: [token],
    logprobs: [-1],
    sampled: true,
    text: '',
    finish: 'length',
    reward: turn === tokens.length - 1 ? outcome : 0,
    valid: true,
    policyMs: 0,
    environmentMs: 0,
  })),
  ...more,
});
const group = (members: readonly Trajectory[]) => [{ id: 'g', task: null, members }];

/** The tokens that count on a side, and what it earned. */
const seen = ({ rows, reward }: Side) => ({
  counted: rows.flatMap(({ ids_T, channels }) =>
    [...ids_T].filter((_, token) => channels.weight![token] === 1),
  ),
  reward,
});
const shown = (examples: readonly Example[]) => examples.map((example) => example.map(seen));

test('the best episode of a task is paired with the worst, and none where all are alike', () => {
  const members = [episode('a', [5, 6], 0.3), episode('b', [7, 6], 1), episode('c', [5], 0)];
  expect(shown(bestAndWorst(group(members)))).toEqual([
    [
      { counted: [7, 6], reward: 1 },
      { counted: [5], reward: 0 },
    ],
  ]);
  expect(bestAndWorst(group([members[0]!, { ...members[1]!, outcome: 0.3 }]))).toEqual([]);
});

test('KTO judges by success, and REBEL keeps pairs of equal rewards, scaled', () => {
  const members = [episode('a', [5], 0.4), episode('b', [6], 0.4), episode('c', [7], 1)];
  expect(shown(judged(group(members))).map(([side]) => side!.reward)).toEqual([-1, -1, 1]);
  expect(shown(twoByTwo(group(members), 10))).toEqual([
    [
      { counted: [5], reward: 4 },
      { counted: [6], reward: 4 },
    ],
  ]);
});

test('the higher return is preferred, be it the expert’s or not; ties make no pair', () => {
  const expert = episode('expert', [9], 0.8);
  const members = [episode('a', [5], 0.2), episode('b', [6], 0.8), episode('c', [7], 1)];
  expect(shown(againstExpert(members, expert)).map((sides) => sides.map(({ counted }) => counted))).toEqual([
    [[9], [5]],
    [[7], [9]],
  ]);
});

test('siblings are turns that saw the same tokens; each is worth the mean outcome of the episodes that took it', () => {
  const members = [
    episode('a', [5, 6], 1),
    episode('b', [5, 7], 0),
    episode('c', [8, 6], 0),
    episode('d', [8, 7], 0.2),
  ];
  // At the root 5 is worth 0.5 and 8 is worth 0.1; below 5 the actions 6 and 7 differ by 1, below 8 by 0.2.
  expect(shown(siblingTurns(members, 0.3))).toEqual([
    [
      { counted: [5], reward: 0.5 },
      { counted: [8], reward: 0.1 },
    ],
    [
      { counted: [6], reward: 1 },
      { counted: [7], reward: 0 },
    ],
  ]);
});

test('a twin is compared at the turn from which it differs, by the rewards of the rest', () => {
  const first = episode('a', [5, 6, 7], 1);
  const twin = episode('a/twin', [5, 8], 0, { parent: 'a', sharedTurns: 1 });
  const same = episode('b/twin', [5, 6, 9], 0, { parent: 'a', sharedTurns: 1 });
  expect(shown(twinPairs([first, twin, same], 2))).toEqual([
    [
      { counted: [6], reward: 2 },
      { counted: [8], reward: 0 },
    ],
  ]);
});

test('the latest episodes are kept, without what was said; recorded ones stay as they are', () => {
  const memory = { creditState: {}, replay: [episode('a', [5], 0), episode('b', [5], 0)] };
  const config = { replay: { size: 2 } } as Parameters<typeof remember>[2];
  const kept = remember(memory, group([episode('c', [6], 1)]), config);
  expect(kept.map(({ id }) => id)).toEqual(['b', 'c']);
  expect(remember(memory, [], config)).toBe(memory.replay);
});

test('returns of tens are brought to a scale on which REFUEL begins with a loss of eta squared', async () => {
  const twins = [-40, -1, -25, -38].map((outcome, index) => [
    episode(`a${index}`, [5, 6], outcome),
    episode(`a${index}/twin`, [5, 7], -20, { parent: `a${index}`, sharedTurns: 1 }),
  ]);
  const pairs = twins.flatMap((members) => twinPairs(members, 1));
  const lossOf = async (examples: readonly Example[]) => {
    const sides = examples.flat();
    // As at the beginning of a step: the policy is the one that sampled.
    const same = { logprobs: [-1], oldLogprobs: [-1], weight: [1] };
    const step = {
      rows: sides.map(() => same),
      sequences: sides.map(({ reward }, row) => ({ rows: [row], reward })),
      pairs: examples.map((_, index): readonly [number, number] => [2 * index, 2 * index + 1]),
    };
    return (await evaluateStep(regression({ eta: 1 }), step)).loss;
  };
  expect(await lossOf(pairs)).toBeGreaterThan(250);
  expect(await lossOf(scaledPairs(pairs))).toBeCloseTo(1, 5);
  // Who earned more stays, and by how much beside the others.
  const ratio = ([one, two]: Example) => one.reward / two!.reward;
  expect(scaledPairs(pairs).map(ratio)).toEqual(pairs.map((pair) => expect.closeTo(ratio(pair), 9)));
  const equal = twinPairs(
    [episode('b', [5], 1), episode('b/twin', [6], 1, { parent: 'b', sharedTurns: 0 })],
    1,
  );
  expect(equal).toHaveLength(1);
  expect(scaledPairs(equal)).toEqual(equal);
  expect(scaledPairs([])).toEqual([]);
});

test('REFUEL scales returns unless told otherwise; Digi-Q chooses between the recorded action and one of its own', () => {
  expect(findRecipe('refuel').lossOptions!.parse({})).toMatchObject({ eta: 1, normalize: true });
  expect(trainConfigSchema.parse(findRecipe('digi-q').settings).critic.candidates).toBe(2);
});
