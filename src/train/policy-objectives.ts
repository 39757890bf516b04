/** Which objectives can be the policy loss of a run: those whose channels training makes of episodes and credit. */

export const policyObjectives = [
  'ppo-clip',
  'policy-gradient',
  'importance-sampling',
  'cispo',
  'dro',
  'gspo',
  'turn-ppo',
  'aepo-clip',
  'clip-cov',
  'kl-cov',
  'truncated-importance-sampling',
  'icepop',
  'sequence-mask',
] as const;

/** Those of them that compare the log-probabilities of the sampler with those of the trainer. */
export const mismatchCorrections: readonly string[] = [
  'truncated-importance-sampling',
  'icepop',
  'sequence-mask',
];
