/** Figures that authors watch beside rewards: metrics of a step or of a score, averaged into events as `env/<name>`. */

import { TurnwiseError } from '../../core/errors.ts';
import { isThenable, valueText } from '../../core/safe-text.ts';
import { LARGEST_REWARD } from '../checks.ts';

export type StepMetrics = Readonly<Record<string, number>>;

/** Every name is a column of every event. */
const MOST_NAMES = 100;

const NAME = /^[\w.-]{1,64}(\/[\w.-]{1,64}){0,3}$/;

/**
 * A copy of what an author gave as metrics.
 *
 * @param call that gave them, for messages: `step()`
 * @throws TurnwiseError `environment-reply`
 */
export function checkedMetrics(call: string, value: unknown): StepMetrics {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isThenable(value)) {
    throw invalid(call, `${valueText(value)} as metrics`, 'an object with a number for each name');
  }
  const names = Object.keys(value);
  if (names.length > MOST_NAMES) throw invalid(call, `${names.length} metrics`, `at most ${MOST_NAMES}`);
  const entries = names.map((name): [string, number] => {
    if (!NAME.test(name)) {
      throw invalid(
        call,
        `a metric called ${valueText(name)}`,
        'names of letters, digits, "_", "-" and ".", with "/" between',
      );
    }
    const figure = (value as Readonly<Record<string, unknown>>)[name];
    if (typeof figure === 'number' && Math.abs(figure) <= LARGEST_REWARD) return [name, figure];
    throw invalid(
      call,
      `${valueText(figure)} as metrics.${name}`,
      `a number from -${LARGEST_REWARD} to ${LARGEST_REWARD}`,
    );
  });
  return Object.fromEntries(entries);
}

function invalid(call: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('environment-reply', {
    what: `${call} returned an invalid value`,
    seen,
    allowed,
    fields: { call, origin: 'environment' },
  });
}
