import { expect, test } from 'vitest';
import { policyLosses } from '../../objective/objectives.ts';
import { type TrainSettings, trainConfigSchema } from '../config/config.ts';
import { lossOptions, ownOptions, policyObjective } from './policy-objective.ts';

const objectiveOf = (objective: TrainSettings['objective'], critic = false) =>
  policyObjective(trainConfigSchema.parse({ objective }), { critic, valueOnly: false });
const optionsOf = (objective: TrainSettings['objective']) =>
  lossOptions(trainConfigSchema.parse({ objective }).objective);

test('every policy loss can be had by name, and an unknown one names those that can', () => {
  for (const name of policyLosses)
    expect(objectiveOf({ name }).key).toContain(name === 'ppo-clip' ? 'ppo-clip' : name);
  expect(() => objectiveOf({ name: 'dpo' })).toThrow(
    'cannot be the policy loss of a run: training does not provide its inputs. Seen: objective.name=dpo. Allowed: ppo-clip, ',
  );
  expect(() => objectiveOf({ name: 'ppo_clip' })).toThrow('Did you mean "ppo-clip"?');
});

test('losses of token ratios take the clip of the run; those of sequences and turns have their own', () => {
  const clip = { clipLow: 0.1, clipHigh: 0.3 };
  expect(optionsOf(clip)).toMatchObject({ clipLow: 0.1, clipHigh: 0.3, dualClip: 3 });
  expect(optionsOf({ ...clip, name: 'aepo-clip' })).toMatchObject(clip);
  expect(optionsOf({ ...clip, name: 'clip-cov' })).toMatchObject({ policy: clip });
  expect(optionsOf({ ...clip, name: 'clip-cov', options: { policy: { clipLow: 0.05 } } })).toMatchObject({
    policy: { clipLow: 0.05, clipHigh: 0.3 },
  });
  expect(optionsOf({ ...clip, name: 'gspo' })).toMatchObject({ clipLow: 3e-4, clipHigh: 4e-4 });
  expect(optionsOf({ ...clip, name: 'turn-ppo' })).toMatchObject({ clipLow: 0.2 });
  expect(optionsOf({ ...clip, name: 'cispo', options: { clipHigh: 2 } })).toEqual({
    clipLow: 1,
    clipHigh: 2,
  });
});

test('an option that the loss does not have is an error that names the nearest', () => {
  expect(() => optionsOf({ name: 'gspo', options: { levle: 'turn' } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Objective "gspo" has no setting "objective.options.levle". Allowed: objective.options.level, objective.options.clipLow, objective.options.clipHigh, objective.options.dualClip. Did you mean "objective.options.level"?]`,
  );
});

test.each([
  ['ppo-clip', { klCoefficient: 1 }],
  ['ppo-clip', { clipHigh: 0.3 }],
  ['icepop', { policy: { klCoefficient: 1 } }],
  ['clip-cov', { policy: { clipLow: 0.05 } }],
] as const)('%s has no option of its own for what the run says: %j', (name, options) => {
  expect(ownOptions(name).safeParse(options).success).toBe(false);
  expect(ownOptions(name).safeParse({}).success).toBe(true);
});

test('terms beside the loss: entropy or its smoothing, KL unless it is in the rewards, values', () => {
  const key = (objective: TrainSettings['objective'], critic = false) =>
    objectiveOf(objective, critic)
      .key.split(' + ')
      .map((part) => part.split(' ')[0]);
  expect(key({ name: 'cispo' })).toEqual(['cispo']);
  expect(key({ entropyCoefficient: 0.1, klCoefficient: 0.1 }, true)).toEqual([
    'ppo-clip',
    'entropy-bonus',
    'kl-penalty',
    'value-loss',
  ]);
  expect(key({ valueLoss: 'two-hot' }, true)).toEqual(['ppo-clip', 'two-hot']);
  expect(key({ entropyCoefficient: 0.1, entropySmoothing: 1 })).toEqual(['ppo-clip', 'entropy-smoothing']);
  expect(key({ klCoefficient: 0.1, klEstimator: 'k1' })).toEqual(['ppo-clip']);
});
