/** TIS, IcePop and sequence masks: learning from a sampler that is not what learns. */

import type { TrainSettings } from '../../../src/train/config.ts';
import { chain } from '../environments/chain.ts';
import { defineExperiment } from '../experiment.ts';
import { staleSamplerRun } from '../stale-sampler.ts';
import { learningOutcome } from '../train-run.ts';

const EVERY = 10;

interface Arm {
  readonly recipe: string;
  readonly objective?: TrainSettings['objective'];
}

const arms: Readonly<Record<string, Arm>> = {
  // A mask that nothing reaches: ratios to the trainer's own log-probabilities, and no weight.
  uncorrected: { recipe: 'sequence-mask', objective: { options: { largest: 1e12 } } },
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
  async run(arm, seed) {
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
  },
});
