/** What a check command says of an episode: by its exit status, and by the last line that it prints. */

import { TurnwiseError } from '../../core/errors.ts';
import { findNonJson, type JsonObject } from '../../core/json/json.ts';
import type { AgentResult } from '../agent.ts';

/** How a check ended. */
export interface CheckEnd {
  /** Absent where something ended it. */
  readonly status?: number;
  /** Why, where something did. */
  readonly ended?: string;
  readonly output: string;
  readonly errors: string;
}

const KEYS = ['reward', 'success', 'metrics', 'info'];

/**
 * Status 0 is a success and 1 is none, worth 1 and 0 unless the last line says otherwise: a number is the reward, an object
 * with `reward` or `success` the whole result. A check that ends otherwise, or prints a result that is none, has failed: it
 * says nothing of the episode.
 *
 * @throws TurnwiseError `check-failed`, of origin `grader`
 */
export function verdictOf({ status, ended, output, errors }: CheckEnd): AgentResult {
  if (status !== 0 && status !== 1) {
    const said = (errors.trim() || output.trim()).slice(-500);
    throw failed(
      `${ended ?? `status ${status}`}${said === '' ? '' : `, after it printed: ${said}`}`,
      'status 0 for a success, 1 for none',
    );
  }
  const line = output.trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(line)) {
    const reward = Number(line);
    if (!Number.isFinite(reward)) throw failed(line, 'a finite number');
    return { reward, success: status === 0 && reward > 0 };
  }
  const said = resultIn(line);
  if (said === undefined) return { reward: status === 0 ? 1 : 0, success: status === 0 };
  const {
    reward = said.success === undefined ? undefined : Number(said.success),
    success,
    metrics,
    info,
  } = said;
  if (typeof reward !== 'number' || !Number.isFinite(reward)) {
    throw failed(`${JSON.stringify(said.reward)} as reward`, 'a finite number');
  }
  if (success !== undefined && typeof success !== 'boolean') {
    throw failed(`${JSON.stringify(success)} as success`, 'true or false');
  }
  return {
    reward,
    success: success ?? (status === 0 && reward > 0),
    ...(metrics !== undefined && { metrics: metrics as Readonly<Record<string, number>> }),
    ...(info !== undefined && { info }),
  };
}

/** A line that is meant as a result; anything else that a check prints is for people. */
function resultIn(line: string): JsonObject | undefined {
  if (!line.startsWith('{')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (findNonJson(value) !== undefined) return undefined;
  const result = value as JsonObject;
  if (!('reward' in result) && !('success' in result)) return undefined;
  const odd = Object.keys(result).find((key) => !KEYS.includes(key));
  if (odd !== undefined) throw failed(`"${odd}" in its result`, KEYS.join(', '));
  return result;
}

function failed(seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('check-failed', {
    what: 'The check of an episode failed',
    seen,
    allowed,
    next: 'The episode is left out; run the check by hand in a folder with its files',
    fields: { origin: 'grader' },
  });
}
