/** Figures of the policy as means over the tokens of a step: their denominator is a number of tokens, not the loss's. */

import type { TokenTargets } from './objective.ts';

/** What objectives sum under `policy/`, over all micro-batches, as means over so many tokens. Other metrics are left as they are. */
export function policyMeans(
  metrics: Readonly<Record<string, number>>,
  tokens: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics).map(([name, value]) => [
      name,
      name.startsWith('policy/') ? value / Math.max(1, tokens) : value,
    ]),
  );
}

/** How many targets count, each once: those with a weight. */
export function countedTargets({ channels }: Pick<TokenTargets, 'channels'>): number {
  let counted = 0;
  for (const weight of channels.weight!) counted += weight > 0 ? 1 : 0;
  return counted;
}
