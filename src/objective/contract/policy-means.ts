/** Figures of the policy as means over the tokens of a step: their denominator is a number of tokens, not the loss's. */

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

/** How many tokens of the rows count, each once: those with a weight. Position 0 carries nothing. */
export function countedTokens(
  rows: readonly { readonly channels: Readonly<Record<string, Float32Array>> }[],
): number {
  let tokens = 0;
  for (const { channels } of rows)
    for (const weight of channels.weight!.subarray(1)) tokens += weight > 0 ? 1 : 0;
  return tokens;
}
