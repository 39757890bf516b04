import { expect, test } from 'vitest';
import { factsOf } from './facts.ts';

test('fields of a turn and of its trajectory', () => {
  const call = { name: 'search', arguments: { q: 'x' } };
  const info = {
    score: 3,
    credit: { dense: 0.5, calls: [{ name: 'open' }], goldenCalls: [call], mode: 'instant' },
  };
  expect(factsOf(info, 'Turn 0 of a')).toEqual({
    turn: { dense: [0.5], calls: [{ name: 'open', arguments: {} }] },
    trajectory: { goldenCalls: [call], mode: 'instant' },
  });
});

test('info without credit says nothing', () => {
  for (const info of [undefined, null, 3, 'credit', [], { score: 1 }]) {
    expect(factsOf(info, 'x')).toEqual({ turn: {}, trajectory: {} });
  }
});

test('unknown fields and wrong values are refused', () => {
  expect(() => factsOf({ credit: { denze: 1 } }, 'Turn 0 of a')).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Turn 0 of a has no setting "info.credit.denze". Allowed: info.credit.dense, info.credit.answerProbability, info.credit.informationGain, info.credit.calls, info.credit.progress, info.credit.features, info.credit.answer, info.credit.correct, info.credit.actionCount, info.credit.effectiveActions, info.credit.labelCorrect, info.credit.response, info.credit.wellFormed, info.credit.counterfactual, info.credit.teacherGaps, info.credit.game, info.credit.entityShare, info.credit.goldenCalls, info.credit.neededCalls, info.credit.mode. Did you mean "info.credit.dense"?]`,
  );
  expect(() =>
    factsOf({ credit: { answerProbability: 2 } }, 'Turn 0 of a'),
  ).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Turn 0 of a cannot use this value of "info.credit.answerProbability". Seen: 2. Allowed: a number <= 1.]`,
  );
});
