/** Which parameters learn: all, an adapter and heads of values, or a group of them. */

import type { LoraShape } from '../../../model/decoder/lora.ts';
import type { ParameterGroup } from '../../../objective/contract/objective.ts';

/** Under LoRA only the adapter and heads of values are trained. */
export function isTrained(name: string, lora: LoraShape | undefined): boolean {
  return lora === undefined || name.includes('.lora_') || name.startsWith(VALUE_HEAD);
}

/** Whether a parameter is of the group; without one every parameter is. */
export function isIn(group: ParameterGroup | undefined, name: string): boolean {
  return group === undefined || name.startsWith(VALUE_HEAD);
}

/** What the names of its parameters begin with. */
const VALUE_HEAD = 'value_head.';
