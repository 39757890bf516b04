import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CreditTrajectory } from './report/rollouts.ts';
import { batch, expectClose, flat, run, single } from './testing/batches.test-helper.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 40 });

describe('one method is another in disguise', () => {
  const same = (
    left: readonly [string, object?],
    right: readonly [string, object?],
    rows: fc.Arbitrary<CreditTrajectory[]> = batch,
  ) =>
    fc.assert(
      fc.property(rows, (trajectories) => {
        const numbers = ([name, options = {}]: readonly [string, object?]) =>
          run(name, trajectories, options).flatMap(({ turnAdvantages_K }) => turnAdvantages_K);
        expectClose(numbers(left), numbers(right));
      }),
    );
  const withoutDense = (rows: readonly CreditTrajectory[]): CreditTrajectory[] =>
    rows.map((row) => ({
      ...row,
      turns: row.turns.map(({ dense: _dense, calls: _calls, ...turn }) => turn),
    }));
  const unbranched = batch.map((rows) =>
    rows.map(({ parent: _parent, sharedTurns: _shared, ...row }) => row),
  );
  const sampled = unbranched.map((rows) =>
    rows.map((row) => ({
      ...row,
      turns: row.turns.map((turn) => ({
        ...turn,
        tokens: 2,
        values: [0, 0],
        entropies: [0.5, 0.5],
        teacherGaps: [0, 0],
        value: 0,
      })),
    })),
  );

  test('dapo below the length limit, arpo with soft attribution: grpo', () => {
    same(['dapo'], ['grpo']);
    same(['arpo'], ['grpo']);
    same(['arpo', { attribution: 'hard' }], ['grpo'], unbranched);
  });
  test('aepo without weight on entropy: grpo on tokens', () => same(['aepo', { a: 0 }], ['grpo'], sampled));
  test('spear without replayed trajectories: dr-grpo', () => same(['spear'], ['dr-grpo']));
  test('step-grpo on single steps: grpo', () => same(['step-grpo'], ['grpo'], single));
  test('e-grpo without entities: grpo on success', () => {
    const bare = batch.map((rows) =>
      rows.map((row) => ({ ...row, entityShare: 0, outcome: row.outcome > 0 ? 1 : 0 })),
    );
    same(['e-grpo'], ['grpo'], bare);
  });
  test('tree-grpo where every tree is one leaf: grpo', () => same(['tree-grpo'], ['grpo'], unbranched));
  test('mt-grpo without weight on what was earned on the way: grpo on outcomes', () => {
    const long = batch.map((rows) => rows.filter(({ turns }) => turns.length > 1));
    const apart = long.map((rows) =>
      rows.map((row) => ({ ...row, turns: row.turns.map((turn) => ({ ...turn, dense: [1] })) })),
    );
    same(['mt-grpo', { lambda: 0, epsilon: 1e-6 }], ['grpo'], apart);
  });
  test('g-ra without a gate and intermediate rewards: grpo', () => {
    const plain = batch.map((rows) =>
      withoutDense(rows).map((row) => ({
        ...row,
        outcome:
          row.turns.length === 0 ? row.outcome : row.turns.reduce((sum, { reward }) => sum + reward, 0),
      })),
    );
    same(['g-ra', { gated: false }], ['grpo'], plain);
  });
  test('hgpo that looks at no history: the step part of gigpo', () => {
    fc.assert(
      fc.property(batch, (trajectories) => {
        const numbers = (name: string, options: object) =>
          run(name, trajectories, { normalisation: 'mean', ...options }).flatMap(flat);
        const episodes = numbers('gigpo', { omega: 0 });
        const steps = numbers('gigpo', { omega: 1 }).map((both, turn) => both - episodes[turn]!);
        expectClose(numbers('hgpo', { K: 0 }), steps);
      }),
    );
  });
  test('turn-gae with γ = λ = 1 and without values: reinforce', () =>
    same(['turn-gae', { gamma: 1, lambda: 1, whiten: false }], ['reinforce'], sampled));
  test('turn-gae with one token for each turn: gae', () => {
    const oneToken = batch.map((rows) =>
      rows.map((row) => ({
        ...row,
        turns: row.turns.map((turn) => ({ ...turn, tokens: 1, values: [turn.value!] })),
      })),
    );
    const options = { gamma: 0.9, lambda: 0.8 };
    same(['turn-gae', options], ['gae', options], oneToken);
  });
  test('bi-level-gae with all discounts at 1: gae with λ = 1', () => {
    same(['bi-level-gae', { gammaH: 1 }], ['gae', { lambda: 1 }]);
    const turns = [
      { reward: 0, tokens: 2, values: [0.1, 0.2] },
      { reward: 1, tokens: 2, values: [0.3, 0.4] },
    ];
    const one: CreditTrajectory[] = [{ id: 'a', groupId: 'g', role: 'agent', outcome: 1, turns }];
    const options = { gamma: 0.9, whiten: false };
    const bilevel = run('bi-level-gae', one, { ...options, gammaH: 0.9 }).flatMap(flat);
    expect(bilevel).not.toEqual(run('gae', one, { ...options, lambda: 1 }).flatMap(flat));
  });
  test('reinforce++-baseline: reinforce++ with a group baseline', () =>
    same(['reinforce++-baseline'], ['reinforce++', { baseline: 'group' }]));
  test('mars with one role: reinforce minus the batch mean', () => {
    const oneRole = batch.map((rows) => rows.map((row) => ({ ...row, role: 'agent' })));
    same(['mars'], ['reinforce', { baseline: 'batch' }], oneRole);
  });
  test('matchtir without calls, hard or soft: the same', () => {
    const plain = batch.map(withoutDense);
    same(['matchtir'], ['matchtir', { matching: 'transport' }], plain);
  });
});
