import { expect, test } from 'vitest';
import type { Group } from '../../core/episode.ts';
import { madeGroup, madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { counterfactuals } from './counterfactuals.ts';
import type { Trainer } from './trainer.ts';

const turn = (action: string, reward = 0) => ({ reward, transition: { action } });

/** Goes on from the first episode before its turn `at`. */
const branch = (member: number, at: number, ...turns: ReturnType<typeof turn>[]) => {
  const { calls, transitions, ...rest } = playedEpisode(member, turns);
  return {
    ...rest,
    calls: calls.map((call) => ({
      ...call,
      id: call.id + at,
      ...(call.id + at > 0 && { parent: call.id + at - 1 }),
    })),
    transitions: transitions.map((transition) => ({ ...transition, call: transition.call! + at })),
    branchedFrom: { episode: madeKey({ member: 0 }), transition: at - 1, calls: at },
  };
};

async function found(group: Group) {
  const trajectories = roleGroups([group]).flatMap(({ members }) => members);
  const facts_IK = await counterfactuals.find({} as Trainer, trajectories);
  return facts_IK.map((facts) => facts.map(({ counterfactual }) => counterfactual));
}

test('branches from one place are each other’s counterfactuals, those that did the same are not', async () => {
  const group = madeGroup(
    playedEpisode(0, [turn('a'), turn('left'), turn('b', 1)]),
    branch(1, 1, turn('right'), turn('c', 0.25)),
    branch(2, 1, turn('left'), turn('c', 0.5)),
  );
  expect(await found(group)).toEqual([
    [undefined, 0.25, undefined],
    [undefined, (1 + 0.5) / 2, undefined],
    [undefined, 0.25, undefined],
  ]);
});

test('episodes that start at the same task share no place', async () => {
  const group = madeGroup(playedEpisode(0, [turn('a', 1)]), playedEpisode(1, [turn('b', 0)]));
  expect(await found(group)).toEqual([[undefined], [undefined]]);
});

test('a branch from the start shares it', async () => {
  const group = madeGroup(playedEpisode(0, [turn('a', 1)]), branch(1, 0, turn('b', 0.5)));
  expect(await found(group)).toEqual([[0.5], [1]]);
});
