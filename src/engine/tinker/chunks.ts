/** Batches in pieces that a server takes in one request, and their results as one. */

import type { Datum, ForwardBackwardOutput } from '../../wire/tinker/shapes.ts';

/** Cuts data into runs of at most `length` data and about `bytes` bytes; a datum that is larger goes alone. */
export function chunks(
  data: readonly Datum[],
  limits: { readonly length: number; readonly bytes: number },
): Datum[][] {
  const parts: Datum[][] = [];
  let open: Datum[] = [];
  let bytes = 0;
  for (const datum of data) {
    const size = sizeOf(datum);
    if (open.length === limits.length || (open.length > 0 && bytes + size > limits.bytes)) {
      parts.push(open);
      open = [];
      bytes = 0;
    }
    open.push(datum);
    bytes += size;
  }
  if (open.length > 0) parts.push(open);
  return parts;
}

/** In JSON a number takes up to about ten bytes. */
function sizeOf({ tokens, inputs }: Datum): number {
  return 10 * Object.values(inputs).reduce((total, values) => total + values.length, tokens.length);
}

/** Outputs one after the other. Metrics say by the end of their name how they join; others count from the last piece. */
export function joinOutputs(parts: readonly ForwardBackwardOutput[]): ForwardBackwardOutput {
  const total = parts.reduce((sum, { outputs }) => sum + outputs.length, 0);
  const metrics: Record<string, number> = {};
  for (const { outputs, metrics: own } of parts) {
    for (const [name, value] of Object.entries(own)) {
      const before = metrics[name];
      if (name.endsWith(':mean'))
        metrics[name] = (before ?? 0) + (value * outputs.length) / Math.max(1, total);
      else if (before === undefined) metrics[name] = value;
      else if (name.endsWith(':sum')) metrics[name] = before + value;
      else if (name.endsWith(':max')) metrics[name] = Math.max(before, value);
      else if (name.endsWith(':min')) metrics[name] = Math.min(before, value);
      else metrics[name] = value;
    }
  }
  return { outputs: parts.flatMap(({ outputs }) => outputs), metrics };
}
