import { expect, test } from 'vitest';
import { exchanges } from '../wire/tinker/testing/exchanges.ts';
import { LogprobEvaluator } from './contract/at-logprobs.ts';
import { type LossName, namedLoss, objectiveOf } from './named-losses.ts';
import { ppoClip } from './policy-gradient/ppo-clip.ts';
import { evaluate } from './testing/evaluate.ts';

/** One token with log q = -1: loss, and derivative by its log-probability. */
async function token(name: LossName, advantage: number, ratio: number, settings = {}) {
  const { loss, gradients } = await evaluate(objectiveOf(namedLoss(name, settings)), {
    logprobs: [Math.log(ratio) - 1],
    oldLogprobs: [-1],
    advantages: [advantage],
  });
  return [loss, gradients.logprobs![0]!];
}

test.each<[LossName, number, number, object, number, number]>([
  ['importance_sampling', 2, 1.5, {}, -3, -3],
  ['ppo', 1, 1.5, {}, -1.2, 0],
  ['ppo', -1, 1.5, {}, 1.5, 1.5],
  ['ppo', -1, 0.5, { clip_low_threshold: 0.9 }, 0.9, 0],
  ['cispo', 1, 1.5, {}, -1.2 * (Math.log(1.5) - 1), -1.2],
  ['cispo', -2, 0.5, {}, 1.6 * (Math.log(0.5) - 1), 1.6],
  ['dro', 1, 1, {}, 1, -1],
  ['dro', 1, Math.E, { beta: 0.5 }, 0.25, -0.5],
])('%s, A %d, ρ %d, %o', async (name, advantage, ratio, settings, loss, gradient) => {
  const got = await token(name, advantage, ratio, settings);
  expect(got[0]).toBeCloseTo(loss, 5);
  expect(got[1]).toBeCloseTo(gradient, 5);
});

test('names and settings are checked', () => {
  expect(() => namedLoss('pppo')).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: There is no loss "pppo". Allowed: cross_entropy, importance_sampling, ppo, cispo, dro. Did you mean "ppo"?]`,
  );
  expect(() => namedLoss('ppo', { clip: 0.2 })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The loss ppo cannot use the setting "clip". Seen: 0.2. Allowed: clip_low_threshold, clip_high_threshold.]`,
  );
  expect(() => namedLoss('cross_entropy', { beta: 1 })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The loss cross_entropy cannot use the setting "beta". Seen: 1. Allowed: no settings.]`,
  );
  expect(() => namedLoss('dro', { beta: 'x' })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The loss dro cannot use the setting "beta". Seen: "x". Allowed: beta.]`,
  );
  expect(() => namedLoss('toString')).toThrow(/no loss/);
});

/** Targets of no row in particular. */
const targetsOf = (logprobs: readonly number[], channels: Readonly<Record<string, Float32Array>>) => ({
  row_N: new Int32Array(logprobs.length),
  position_N: Int32Array.from(logprobs, (_, target) => target + 1),
  turn_N: new Int32Array(logprobs.length),
  ids_N: new Int32Array(logprobs.length),
  logprobs_N: Float32Array.from(logprobs),
  channels,
});

test('value, metrics and derivatives of targets', async () => {
  const evaluator = new LogprobEvaluator();
  const channels = { weight: f(0.5, 0.25, 1), advantages: f(2, -1, 1), oldLogprobs: f(-1, -1, -3) };
  const targets = targetsOf([-1.1, -0.9, -3], channels);
  const got = await evaluator.evaluate(ppoClip(), targets);
  const direct = await evaluate(ppoClip(), {
    weight: [0.5, 0.25, 1],
    advantages: [2, -1, 1],
    oldLogprobs: [-1, -1, -3],
    logprobs: [-1.1, -0.9, -3],
  });
  expect(got.loss).toBeCloseTo(direct.loss, 6);
  expect(got.metrics['policy/ratio']).toBeCloseTo(3 * direct.metrics['policy/ratio']!, 5);
  expect([...got.gradients_N]).toEqual([...direct.gradients.logprobs!]);
  await expect(evaluator.evaluate(ppoClip({ entropyCoefficient: 1 }), targets)).rejects.toThrow(
    'The objective needs entropies, and this engine has log-probabilities only',
  );
  await evaluator.close();
});

test('losses per token are those that a real server gave', async () => {
  const evaluator = new LogprobEvaluator();
  const lines = exchanges('04-losses');
  const seen = new Set<string>();
  for (const [index, { request, note }] of lines.entries()) {
    const input = (request?.body as ForwardBody | undefined)?.forward_backward_input;
    if (input === undefined || /weights left out|without/.test(note ?? '')) continue;
    const result = lines.slice(index).find((line) => line.note === `${note} (result)`)?.response?.body as
      | ResultBody
      | undefined;
    if (result === undefined) continue;
    const loss = namedLoss(input.loss_fn, input.loss_fn_config ?? {});
    seen.add(`${input.loss_fn} ${JSON.stringify(input.loss_fn_config ?? {})}`);
    const weight = input.data.flatMap(({ loss_fn_inputs: { weights } }) => weights!.data);
    const all = (name: string): Float32Array => {
      const values = input.data.flatMap(({ loss_fn_inputs }) => loss_fn_inputs[name]?.data ?? []);
      return values.length === 0 ? new Float32Array(weight.length) : f(...values);
    };
    const channels = { weight: f(...weight), advantages: all('advantages'), oldLogprobs: all('logprobs') };
    const logprobs = result.loss_fn_outputs.flatMap((output) => output.logprobs.data);
    const losses = await evaluator.targetLosses(loss, targetsOf(logprobs, channels));
    const theirs = result.loss_fn_outputs.flatMap((output) => output.elementwise_loss.data);
    for (const [target, value] of theirs.entries())
      expect(losses[target]! * weight[target]!).toBeCloseTo(value, 5);
  }
  expect([...seen].sort()).toMatchInlineSnapshot(`
    [
      "cispo {"clip_low_threshold":0.9,"clip_high_threshold":1.1}",
      "cispo {}",
      "cross_entropy {}",
      "importance_sampling {}",
      "ppo {"clip_low_threshold":0.9,"clip_high_threshold":1.1}",
      "ppo {}",
    ]
  `);
  await evaluator.close();
});

const f = (...values: number[]): Float32Array => Float32Array.from(values);

interface ForwardBody {
  readonly forward_backward_input?: {
    readonly loss_fn: string;
    readonly loss_fn_config?: Record<string, number>;
    readonly data: readonly {
      readonly loss_fn_inputs: Readonly<Record<string, { readonly data: number[] } | undefined>>;
    }[];
  };
}

interface ResultBody {
  readonly loss_fn_outputs: readonly {
    readonly logprobs: { readonly data: number[] };
    readonly elementwise_loss: { readonly data: number[] };
  }[];
}
