/** `--budget steps=20`, `tokens=200k`, `minutes=1.5`: how much every run may spend. */

import { TurnwiseError } from '../../core/errors.ts';

export interface Budget {
  readonly unit: 'steps' | 'tokens' | 'minutes';
  readonly amount: number;
}

const factors: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6 };

/** @throws TurnwiseError `option-value` */
export function parseBudget(text: string): Budget {
  const match = /^(steps|tokens|minutes)=(\d+(?:\.\d+)?)([kM]?)$/i.exec(text.replaceAll('_', ''));
  const unit = match?.[1]?.toLowerCase() as Budget['unit'] | undefined;
  const amount = Number(match?.[2]) * (factors[match?.[3]?.toLowerCase() ?? ''] ?? Number.NaN);
  if (unit !== undefined && amount > 0 && (unit === 'minutes' || Number.isInteger(amount))) {
    return { unit, amount };
  }
  throw new TurnwiseError('option-value', {
    what: 'The value of --budget is not allowed',
    seen: text,
    allowed: 'steps=N, tokens=N or minutes=N, above 0, such as steps=20, tokens=500k or minutes=1.5',
    fields: { option: '--budget' },
  });
}
