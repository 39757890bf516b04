import { expect, test } from 'vitest';
import type { Episode } from '../../core/episode.ts';
import {
  type MadeTurn,
  madeCall,
  madeEpisode,
  madeGroup,
  madeKey,
  madeTransition,
  playedEpisode,
  trajectoriesOf,
  trajectoryOf,
} from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { refuel as regression } from '../../objective/preference/rebel.ts';
import { evaluateStep } from '../../objective/testing/evaluate.ts';
import { trainConfigSchema } from '../config/config.ts';
import { findRecipe } from '../recipes/recipes.ts';
import { againstExpert, bestAndWorst, judged, siblingTurns, twoByTwo } from './pairs.ts';
import type { Example, Side } from './preferences.ts';
import { remember } from './replay.ts';
import { scaledPairs } from './scaled-pairs.ts';
import { twinPairs } from './twins.ts';

/** Each turn samples one token after the token 1; all of the outcome comes with the last. */
const turnsOf = (tokens: readonly number[], outcome: number): MadeTurn[] =>
  tokens.map((token, turn) => ({
    written: [token],
    reward: turn === tokens.length - 1 ? outcome : 0,
    call: { context: [1] },
  }));
const episode = (member: number, tokens: readonly number[], outcome: number): Episode =>
  playedEpisode(member, turnsOf(tokens, outcome), { success: { agent: outcome > 0.5 } });
const group = (members: readonly Episode[]) => roleGroups([madeGroup(...members)]);
const views = (members: readonly Episode[]) => trajectoriesOf(madeGroup(...members));

/** The tokens that count on a side, and what it earned. */
const seen = ({ rows, reward }: Side) => ({
  counted: rows.flatMap(({ ids_T, channels }) =>
    [...ids_T].filter((_, token) => channels.weight![token] === 1),
  ),
  reward,
});
const shown = (examples: readonly Example[]) => examples.map((example) => example.map(seen));

test('the best episode of a task is paired with the worst, and none where all are alike', () => {
  const members = [episode(0, [5, 6], 0.3), episode(1, [7, 6], 1), episode(2, [5], 0)];
  expect(shown(bestAndWorst(group(members)))).toEqual([
    [
      { counted: [7, 6], reward: 1 },
      { counted: [5], reward: 0 },
    ],
  ]);
  expect(bestAndWorst(group([members[0]!, episode(1, [7, 6], 0.3)]))).toEqual([]);
});

test('KTO judges by success, and REBEL keeps pairs of equal rewards, scaled', () => {
  const members = [episode(0, [5], 0.4), episode(1, [6], 0.4), episode(2, [7], 1)];
  expect(shown(judged(group(members))).map(([side]) => side!.reward)).toEqual([-1, -1, 1]);
  expect(shown(twoByTwo(group(members), 10))).toEqual([
    [
      { counted: [5], reward: 4 },
      { counted: [6], reward: 4 },
    ],
  ]);
});

test('the higher return is preferred, be it the expert’s or not; ties make no pair', () => {
  const expert = trajectoryOf(episode(0, [9], 0.8));
  const members = [episode(0, [5], 0.2), episode(1, [6], 0.8), episode(2, [7], 1)];
  expect(
    shown(againstExpert(views(members), expert)).map((sides) => sides.map(({ counted }) => counted)),
  ).toEqual([
    [[9], [5]],
    [[7], [9]],
  ]);
});

test('siblings are turns that saw the same tokens; each is worth the mean outcome of the episodes that took it', () => {
  const members = [
    episode(0, [5, 6], 1),
    episode(1, [5, 7], 0),
    episode(2, [8, 6], 0),
    episode(3, [8, 7], 0.2),
  ];
  // At the root 5 is worth 0.5 and 8 is worth 0.1; below 5 the actions 6 and 7 differ by 1, below 8 by 0.2.
  expect(shown(siblingTurns(views(members), 0.3))).toEqual([
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
  const first = episode(0, [5, 6, 7], 1);
  const other = episode(1, [5, 6, 7], 1);
  /** Goes on after the first turn with these tokens. */
  const branch = (member: number, origin: Episode, tokens: readonly number[]): Episode =>
    madeEpisode(
      member,
      tokens.map((token, index) => madeCall(index + 1, [token], { context: [1], parent: index })),
      tokens.map((_, index) => madeTransition(index + 1)),
      { branchedFrom: { episode: origin.key, transition: 0, calls: 1 } },
    );
  // The second twin took the same action.
  const members = [first, other, branch(2, first, [8]), branch(3, other, [6, 9])];
  expect(shown(twinPairs(views(members), 2))).toEqual([
    [
      { counted: [6], reward: 2 },
      { counted: [8], reward: 0 },
    ],
  ]);
  // A twin from the start is compared at the first turn; one whose first failed, with nothing.
  const again = { ...episode(2, [7], 0.5), branchedFrom: fromStart(first) };
  expect(shown(twinPairs(views([first, other, again]), 2))).toEqual([
    [
      { counted: [5], reward: 2 },
      { counted: [7], reward: 1 },
    ],
  ]);
  expect(twinPairs(views([first, other, again]).slice(1), 2)).toEqual([]);
});

const fromStart = ({ key }: Episode) => ({ episode: key, transition: -1, calls: 0 });

test('the latest episodes are kept, by their keys; recorded ones stay as they are', () => {
  const key = (member: number) => ({ episode: madeKey({ member }), role: 'agent' });
  const memory = { kept: [key(0), key(1)] };
  const config = { replay: { size: 2 } } as Parameters<typeof remember>[2];
  const kept = remember(memory, group([episode(2, [6], 1)]), config);
  expect(kept).toEqual([key(1), key(2)]);
  expect(JSON.parse(JSON.stringify(kept))).toEqual(kept);
  expect(remember(memory, [], config)).toBe(memory.kept);
});

/** An episode, and its twin from the second turn on, which earned −20. */
const twins = (outcome: number): Episode[] => {
  const first = episode(0, [5, 6], outcome);
  const place = { episode: first.key, transition: 0, calls: 1 };
  const call = madeCall(1, [7], { context: [1], parent: 0 });
  return [
    first,
    madeEpisode(1, [call], [madeTransition(1, -20)], { branchedFrom: place, outcome: { agent: -20 } }),
  ];
};

test('returns of tens are brought to a scale on which REFUEL begins with a loss of eta squared', async () => {
  const pairs = [-40, -1, -25, -38].flatMap((outcome) => twinPairs(views(twins(outcome)), 1));
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
  const first = episode(0, [5], 1);
  const equal = twinPairs(views([first, { ...episode(1, [6], 1), branchedFrom: fromStart(first) }]), 1);
  expect(equal).toHaveLength(1);
  expect(scaledPairs(equal)).toEqual(equal);
  expect(scaledPairs([])).toEqual([]);
});

test('REFUEL scales returns unless told otherwise; Digi-Q chooses between the recorded action and one of its own', () => {
  expect(findRecipe('refuel').lossOptions!.parse({})).toMatchObject({ eta: 1, normalize: true });
  expect(trainConfigSchema.parse(findRecipe('digi-q').settings).critic.candidates).toBe(2);
});
