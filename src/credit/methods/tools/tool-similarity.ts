/** How alike a predicted tool call and a golden one are. */

import { canonicalJson, type Json } from '../../../core/json/json.ts';
import type { ToolCall } from '../../report/rollouts.ts';

/** A call made ready for comparing: values as text, so that equal ones are equal strings. */
export interface ComparableCall {
  readonly name: string;
  readonly values: ReadonlyMap<string, string>;
}

export function comparable({ name, arguments: values }: ToolCall): ComparableCall {
  return {
    name: name.toLowerCase(),
    values: new Map(
      Object.entries(values).map(([key, value]: [string, Json]) => [key, canonicalJson(value)]),
    ),
  };
}

/**
 * 0 where the names differ (case apart), else (1 + Jaccard of the parameter names + number of equal parameters) /
 * (2 + number of golden parameters): 1 for equal calls.
 */
export function similarity(predicted: ComparableCall, golden: ComparableCall): number {
  if (predicted.name !== golden.name) return 0;
  let shared = 0;
  let equal = 0;
  for (const [key, value] of golden.values) {
    const other = predicted.values.get(key);
    if (other === undefined) continue;
    shared++;
    if (other === value) equal++;
  }
  const union = predicted.values.size + golden.values.size - shared;
  const jaccard = union === 0 ? 1 : shared / union;
  return (1 + jaccard + equal) / (2 + golden.values.size);
}
