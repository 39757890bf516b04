/** TIS, IcePop and sequence masks: learning from a sampler that is not what learns. */

import type { TrainSettings } from '../../../src/train/config/config.ts';
import { chain } from '../environments/chain.ts';
import { defineExperiment, type Outcome } from '../experiment.ts';
import { staleSamplerRun } from '../stale-sampler.ts';
import { learningOutcome } from '../train-run.ts';

const EVERY = 10;

interface Arm {
  readonly recipe: string;
  readonly objective?: TrainSettings['objective'];
}

const arms: Readonly<Record<string, Arm>> = {
  // A cap that every ratio reaches, over the mean weight: ratios to the trainer's own log-probabilities, and weight 1.
  uncorrected: { recipe: 'tis', objective: { options: { largest: 1e-9, normalize: true } } },
  grpo: { recipe: 'grpo' },
  tis: { recipe: 'tis' },
  icepop: { recipe: 'icepop' },
  'sequence-mask': { recipe: 'sequence-mask' },
};

export const mismatch = defineExperiment({
  name: 'mismatch',
  methods: ['tis', 'icepop', 'sequence-mask'],
  claim:
    'With a sampler whose weights are renewed only every tenth step, a policy that takes the episodes for its own ends lower than with truncated weights (tis), with IcePop’s and with masked sequences.',
  source: 'verl, rollout_corr_helper.py; OpenRLHF, models/loss.py; TRL, grpo_config.py',
  setup: `A chain of four doors, four words, ten turns; a model of width 32; 40 steps of 8 tasks × 8 episodes. The weights that sample are renewed every ${EVERY} steps; evaluations play the present ones. uncorrected: ratios to the trainer’s log-probabilities and no weights. grpo: ratios to the sampler’s log-probabilities, as this library has them without a correction. disagreement: KL of the sampler from the trainer, per token, over the whole run.`,
  arms: ['uncorrected', 'grpo', 'tis', 'icepop', 'sequence-mask'],
  seeds: 5,
  comparisons: [
    { figure: 'final', arm: 'tis', against: 'uncorrected', expect: 'higher' },
    { figure: 'final', arm: 'icepop', against: 'uncorrected', expect: 'higher' },
    { figure: 'final', arm: 'sequence-mask', against: 'uncorrected', expect: 'higher' },
  ],
  remarks:
    'Every arm but grpo solves the chain whatever it takes the stale episodes for, so this claim cannot fail here. Weights of tokens change how soon; [mismatch-steps](#mismatch-steps) asks that of other seeds. grpo, whose ratios are to the sampler, is held near it by its clip: the disagreement is smallest there, and so is what is learned between two renewals. An earlier sequence mask, which gave kept sequences weight 1 where its source gives them their ratio, ended at 0.765; that figure was of this line.',
  run: (arm, seed) => staleRun(arm, seed),
});

/** Of the seeds of the first experiment none is used again. */
const OTHER_SEEDS = 100;

export const staleSteps = defineExperiment({
  name: 'mismatch-steps',
  methods: ['tis', 'icepop'],
  claim:
    'With a sampler whose weights are renewed only every tenth step, weights of tokens (tis, icepop) learn in fewer steps than taking the episodes for the policy’s own.',
  source: 'verl, rollout_corr_helper.py; OpenRLHF, models/loss.py',
  setup: `As [mismatch](#mismatch), whose runs suggested this claim, with other seeds (${OTHER_SEEDS + 1} to ${OTHER_SEEDS + 5}). area: mean success of the episodes of all steps, which the stale weights play.`,
  arms: ['uncorrected', 'tis', 'icepop'],
  seeds: 5,
  comparisons: [
    { figure: 'area', arm: 'tis', against: 'uncorrected', expect: 'higher' },
    { figure: 'area', arm: 'icepop', against: 'uncorrected', expect: 'higher' },
  ],
  run: (arm, seed) => staleRun(arm, OTHER_SEEDS + seed),
});

async function staleRun(arm: string, seed: number): Promise<Outcome> {
  const { recipe, objective } = arms[arm]!;
  const run = await staleSamplerRun({
    every: EVERY,
    environment: chain({ doors: 4, turns: 10, words: 4 }),
    recipe,
    seed,
    settings: { steps: 40, ...(objective && { objective }) },
  });
  const { figures, curve = [] } = learningOutcome(run);
  return { figures: { ...figures, disagreement: run.disagreement }, curve };
}
