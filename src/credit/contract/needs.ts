/** What to say when a trajectory lacks a field that a method cannot do without. */

import { TurnwiseError } from '../../core/errors.ts';
import { type CreditField, rolloutFields, turnFields } from '../report/fields.ts';
import type { CreditTrajectory } from '../report/rollouts.ts';

/** The error for field `field` of a trajectory, or of its turn `k`. `instead` says what else would do. */
export function missingField(
  method: string,
  { id }: CreditTrajectory,
  field: CreditField,
  k?: number,
  instead?: string,
): TurnwiseError {
  const place = k === undefined ? field : field.replace('[]', `[${k}]`);
  return new TurnwiseError('credit-needs-field', {
    what: `${method} needs ${place}, which trajectory "${id}" does not have`,
    allowed: meaningOf(field),
    ...(instead !== undefined && { next: instead }),
    fields: { trajectory: id, field, ...(k !== undefined && { turn: k }) },
  });
}

/** What the field means, as one clause. */
export function meaningOf(field: CreditField): string {
  const inTurn = field.startsWith('turns[].');
  const schemas: Readonly<Record<string, { readonly description?: string | undefined }>> = inTurn
    ? turnFields
    : rolloutFields;
  return schemas[inTurn ? field.slice('turns[].'.length) : field]?.description ?? '';
}
