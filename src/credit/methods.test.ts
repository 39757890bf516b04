import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { creditMethods, findCreditMethod } from './methods.ts';

describe.each(creditMethods)('$name', ({ name, options, create }) => {
  test('has a default and a description for every option', () => {
    expect(findCreditMethod(name).name).toBe(name);
    const defaults = create().options as Record<string, unknown>;
    const properties = z.toJSONSchema(options, { io: 'input' }).properties ?? {};
    expect(Object.keys(defaults).sort()).toEqual(Object.keys(properties).sort());
    for (const property of Object.values(properties)) {
      expect((property as { description?: string }).description).toMatch(/\.$/);
    }
  });

  test('refuses an unknown option', () => {
    expect(() => create({ temperature: 1 })).toThrow(`Credit method "${name}" has no setting`);
  });
});

describe('messages', () => {
  test('an unknown method', () => {
    expect(() => findCreditMethod('gpro')).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: There is no such credit method. Seen: "gpro". Allowed: reinforce, reinforce++, reinforce++-baseline, rloo, grpo, dr-grpo, dapo, gae, turn-gae, bi-level-gae, gigpo, hgpo, step-grpo, igpo, matchtir, spa-rl, g-ra, e-grpo, mt-grpo, arpo, tree-grpo, aepo, spear, earl, mars, rae, cory, waltzrl, malt, teacher-kl. Did you mean "grpo"?]`,
    );
    expect(() => findCreditMethod('alphazero')).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: There is no such credit method. Seen: "alphazero". Allowed: reinforce, reinforce++, reinforce++-baseline, rloo, grpo, dr-grpo, dapo, gae, turn-gae, bi-level-gae, gigpo, hgpo, step-grpo, igpo, matchtir, spa-rl, g-ra, e-grpo, mt-grpo, arpo, tree-grpo, aepo, spear, earl, mars, rae, cory, waltzrl, malt, teacher-kl.]`,
    );
  });

  test('an unknown option and a value out of range', () => {
    expect(() => findCreditMethod('gae').create({ lamda: 0.9 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Credit method "gae" has no setting "lamda". Allowed: gamma, lambda, lengthAlpha, decoupled, whiten. Did you mean "lambda"?]`,
    );
    expect(() => findCreditMethod('rloo').create({ gamma: 1 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Credit method "rloo" has no setting "gamma". Allowed: no settings.]`,
    );
    expect(() => findCreditMethod('gae').create({ gamma: 1.5 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Credit method "gae" cannot use this value of "gamma". Seen: 1.5. Allowed: a number <= 1.]`,
    );
    expect(() => findCreditMethod('grpo').create({ std: 'unbiased' })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Credit method "grpo" cannot use this value of "std". Seen: "unbiased". Allowed: one of "sample"|"population"|"none".]`,
    );
    expect(() => findCreditMethod('grpo').create(7)).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Credit method "grpo" cannot use these settings. Seen: 7. Allowed: object.]`,
    );
  });

  test('what a method needs and does not find', () => {
    const bare = { id: 'a', groupId: 'g', role: 'agent', outcome: 1, turns: [{ reward: 1, tokens: 2 }] };
    const run = (name: string, turns: object) => () =>
      findCreditMethod(name)
        .create()
        .credit([{ ...bare, turns: [{ ...bare.turns[0]!, ...turns }] }], {});
    expect(run('gae', {})).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: gae needs one value for each sampled token, and turns[0] of trajectory "a" has 2 of them. Seen: 0 values. Score the tokens with a value head and pass them as turns[].values, or use a method without a critic.]`,
    );
    expect(run('gigpo', {})).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: gigpo compares turns that acted in the same state, and turns[0] of trajectory "a" does not say in which. Seen: no anchor. Allowed: turns[].anchor, a text that is equal for equal states.]`,
    );
    expect(run('gae', { tokens: 1.5 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: turns[0].tokens of trajectory "a" must count sampled tokens. Seen: 1.5. Allowed: a whole number, 0 or more.]`,
    );
    expect(run('gae', { values: [1, Number.NaN] })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Credit met a number that is not finite: turns[0].values[1] of trajectory "a". Seen: NaN. Look at the rewards and values of that trajectory; nothing was trained on it.]`,
    );
    expect(run('reinforce++', { reward: 1e308, tokens: 1 })).not.toThrow();
  });
});
