/** The worked numbers of bonuses for what was rarely visited: over training, an episode or a group. */

import { describe, expect, test } from 'vitest';
import { parseRollouts } from '../report/node/read-rollouts.ts';
import type { CreditState } from '../report/rollouts.ts';
import { expectClose, shapedRewards } from '../testing/worked.test-helper.ts';
import { findRewardShaping } from './shapings.ts';

const rewards = (shaping: string, rollouts: readonly object[], options: object = {}): number[][] =>
  shapedRewards('reinforce', rollouts, {}, { [shaping]: options });

describe('exploration-bonus', () => {
  const walk = (id: string, ...anchors: readonly string[]) => ({
    groupId: 'g',
    id,
    turns: anchors.map((anchor) => ({ anchor })),
  });

  test('episodic: less for coming back', () => {
    expectClose(rewards('exploration-bonus', [walk('a', 's', 'x', 's', 'x')], { beta: 1 }), [
      [1, Math.SQRT1_2, Math.SQRT1_2, 0],
    ]);
  });

  test('global: less for what all of training has seen, whatever the order', () => {
    const walks = [walk('a', 's', 'x'), walk('b', 's', 'x'), walk('c', 's', 'y')];
    const options = { beta: 1, scope: 'global' };
    expectClose(rewards('exploration-bonus', walks, options), [
      [Math.SQRT1_2, 0],
      [Math.SQRT1_2, 0],
      [1, 0],
    ]);
    const { shape } = findRewardShaping('exploration-bonus').create(options);
    const rollouts = parseRollouts(JSON.stringify(walks), 'x');
    const again = shape(rollouts, shape(rollouts, {}).state);
    expectClose([again.trajectories.map(({ turns }) => turns[0]!.reward)], [[0.5, 0.5, Math.SQRT1_2]]);
  });

  test('global: what branches share was visited once, whether or not its parent is there', () => {
    const branches = ['b', 'c', 'd'].map((id) => ({
      ...walk(id, 's', 'x', id),
      ...{ parent: 'a', sharedTurns: 2 },
    }));
    const deeper = { ...walk('e', 's', 'x', 'b', 's'), parent: 'b', sharedTurns: 3 };
    const options = { beta: 1, scope: 'global' };
    for (const origin of [[walk('a', 's', 'x', 'a')], []]) {
      const { shape } = findRewardShaping('exploration-bonus').create(options);
      const rollouts = parseRollouts(JSON.stringify([...origin, ...branches]), 'x');
      const { trajectories, state } = shape(rollouts, {});
      for (const { turns } of trajectories) expectClose([turns.map(({ reward }) => reward)], [[1, 1, 0]]);
      // Turns of a later step are visits of their own.
      const later = shape(parseRollouts(JSON.stringify([walk('f', 'y', 's', 'b')]), 'x'), state);
      expectClose(
        [later.trajectories[0]!.turns.map(({ reward }) => reward)],
        [[Math.SQRT1_2, Math.SQRT1_2, 0]],
      );
    }
    // A branch of a branch comes to s again.
    expectClose(
      [rewards('exploration-bonus', [...branches, deeper], options)[3]!],
      [[1, 1, Math.SQRT1_2, 0]],
    );
  });

  test('product: both', () => {
    const options = { beta: 1, scope: 'product' };
    expectClose(rewards('exploration-bonus', [walk('a', 's', 's')], options), [[0.5, 0]]);
  });

  test('fades over its steps, which the state counts', () => {
    const { shape } = findRewardShaping('exploration-bonus').create({ beta: 1, steps: 4 });
    const rollouts = parseRollouts(JSON.stringify([walk('a', 's', 'x')]), 'x');
    let state: CreditState = {};
    const earned = Array.from({ length: 5 }, () => {
      const shaped = shape(rollouts, state);
      state = shaped.state;
      return shaped.trajectories[0]!.turns[0]!.reward;
    });
    expectClose([earned], [[1, 0.8536, 0.5, 0.1464, 0]]);
  });
});

describe('novelty', () => {
  const walk = (id: string, ...anchors: readonly string[]) => ({
    ...{ groupId: 'g', id },
    turns: anchors.map((anchor) => ({ anchor })),
  });

  test('training: only what is rarer than the state before, and only once in an episode', () => {
    // s is visited three times, x twice and y once: 1/2 − 1/3 and 1 − 1/2.
    const walks = [walk('a', 's', 'x', 's'), walk('b', 's', 'x', 'y')];
    expectClose(rewards('novelty', walks, { beta: 1 }), [
      [1 / 2 - 1 / 3, 0, 0],
      [1 / 2 - 1 / 3, 1 / 2, 0],
    ]);
    expectClose(rewards('novelty', walks, { beta: 1, alpha: 0 }), [
      [1 / 2, 0, 0],
      [1 / 2, 1, 0],
    ]);
  });

  test('training: what branches share was visited once', () => {
    const branches = ['b', 'c', 'd'].map((id) => ({
      ...walk(id, 's', 'x', 'y'),
      ...{ parent: 'a', sharedTurns: 2 },
    }));
    // x was visited once, as s was; y three times.
    const walks = [walk('a', 's', 'x'), ...branches];
    expectClose([rewards('novelty', walks, { beta: 1, alpha: 0.5 })[1]!], [[1 / 2, 0, 0]]);
  });

  test('group: members that came there, each once', () => {
    const walks = [walk('a', 's', 'x', 'x'), walk('b', 's', 'y', 'x'), walk('c', 's', 'x', 's')];
    // s: 3 members, x: 3, y: 1.
    expectClose(rewards('novelty', walks, { beta: 1, among: 'group' }), [
      [0, 0, 0],
      [1 - 1 / 3, 0, 0],
      [0, 0, 0],
    ]);
  });

  test('counts go on from the state that a checkpoint keeps, bit for bit', () => {
    const { shape } = findRewardShaping('novelty').create({ steps: 10 });
    const rollouts = parseRollouts(JSON.stringify([walk('a', 's', 'x', 'y'), walk('b', 's', 'y')]), 'x');
    const first = shape(rollouts, {});
    const stored = JSON.parse(JSON.stringify(first.state)) as CreditState;
    expect(shape(rollouts, stored)).toEqual(shape(rollouts, first.state));
    expect(shape(rollouts, stored).trajectories).not.toEqual(first.trajectories);
  });
});
