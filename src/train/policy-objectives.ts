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
