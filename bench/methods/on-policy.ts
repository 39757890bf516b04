/** Experiments about methods that learn from the episodes of the step. */

import type { Experiment } from './experiment.ts';
import { arpo } from './experiments/arpo.ts';
import { cispo } from './experiments/cispo.ts';
import { cooperation } from './experiments/cooperation.ts';
import { covariance, noisyVerdicts } from './experiments/covariance.ts';
import { dapo } from './experiments/dapo.ts';
import { eGrpo } from './experiments/e-grpo.ts';
import { epo } from './experiments/epo.ts';
import { gRa } from './experiments/g-ra.ts';
import { gigpo } from './experiments/gigpo.ts';
import { hgpo } from './experiments/hgpo.ts';
import { mismatch, staleSteps } from './experiments/mismatch.ts';
import { roles } from './experiments/roles.ts';
import { simpletir } from './experiments/simpletir.ts';
import { spaRl } from './experiments/spa-rl.ts';
import { stepScores } from './experiments/step-scores.ts';
import { turnGae } from './experiments/turn-gae.ts';
import { turnRewards } from './experiments/turn-rewards.ts';
import { voidTurns } from './experiments/void-turns.ts';

export const onPolicyExperiments: readonly Experiment[] = [
  gigpo,
  turnRewards,
  turnGae,
  hgpo,
  gRa,
  spaRl,
  stepScores,
  eGrpo,
  epo,
  voidTurns,
  simpletir,
  cispo,
  dapo,
  roles,
  cooperation,
  arpo,
  covariance,
  noisyVerdicts,
  mismatch,
  staleSteps,
];

export const onPolicyPending: Readonly<Record<string, string>> = {
  grpo: 'an experiment of its own; it is the rival in most of those below',
  ppo: 'an experiment of its own; its advantages are the rival in [turn-gae](#turn-gae)',
  'turn-ppo': 'turns of many tokens whose ratios differ; its advantages are those of turn-gae',
  rloo: 'an experiment of its own; it is the rival in most comparisons of `turnwise compare`',
  'dr-grpo': 'answers whose length the policy chooses',
  gspo: 'sequences long enough for the ratios of tokens to be noisy',
  reinforce: 'nothing: it is a yardstick, and the pooled rival in [roles](#roles)',
  'reinforce++': 'batches in which each task is played once',
  'reinforce++-baseline': 'groups whose spread is noisy',
  earl: 'an environment that plays counterfactual continuations of the policy, not of an expert',
  'tree-grpo': 'a task in which one turn of a branch decides',
  malt: 'a task of answer, critique and refinement',
};
