/** What a run warns of after a step: an update that learned nothing, and a sampler that is not what is trained. */

import type { RoleGroup } from '../../core/trajectory.ts';
import { constantShare } from '../../curation/usable.ts';
import type { Idle } from '../recipes/recipe.ts';
import type { Metrics, StoredEvent } from './events.ts';
import type { Update } from './learn-step.ts';

/** What went wrong in the episodes of a step, counted from 1. */
export function failureWarnings(step: number, failures: ReadonlyMap<string, number>): StoredEvent[] {
  return [...failures].map(([message, count]) => ({
    type: 'warning',
    code: 'episodes-failed',
    message: `step ${step}: ${count} × ${message}`,
  }));
}

/**
 * The warnings of one step, counted from 1. Where older weights sampled, they are expected to differ: in stale episodes, and
 * in those of earlier steps that a curation inserted.
 */
export function updateWarnings(
  step: number,
  update: Update,
  groups: readonly RoleGroup[],
  staleness = 0,
): StoredEvent[] {
  const gap = update.metrics['policy/kl_sample_train'] ?? 0;
  const isOlder =
    staleness > 0 || groups.some(({ members }) => members.some(({ episode }) => episode.key.step < step));
  return [
    ...(update.updates === 0 ? [nothingLearned(step, update, groups)] : []),
    ...(gap <= sampleTrainLimit || isOlder ? [] : [samplerDiffers(step, gap)]),
  ];
}

/** Well above any `policy/kl_sample_train` that rounding explains: log-probabilities 1e-4 apart give 5e-9. */
const sampleTrainLimit = 1e-5;

function samplerDiffers(step: number, gap: number): StoredEvent {
  return {
    type: 'warning',
    code: 'sampler-differs',
    message:
      `step ${step}: sampled tokens have other log-probabilities in training than when they were sampled ` +
      `(policy/kl_sample_train ${gap.toExponential(1)}): the trained tokens are not those that were sampled, or the sampler has other weights`,
  };
}

/** After how many steps a recipe that changes nothing is told of; runs that are shorter tell at their end. */
const IDLE_STEPS = 5;

/**
 * Tells once that the recipe's own mechanism has done nothing in any step so far. A run that was resumed within its first steps
 * tells nothing.
 *
 * @example
 * const watch = idleWatch(recipe.idle);
 * for (const warning of watch(step + 1, metrics, last)) io.event(warning);
 */
export function idleWatch(
  idle: Idle | undefined,
): (step: number, metrics: Metrics, last: boolean) => StoredEvent[] {
  let steps = 0;
  const values: number[] = [];
  return (step, metrics, last) => {
    if (idle === undefined || step > IDLE_STEPS) return [];
    steps++;
    const value = metrics[idle.metric];
    if (value !== undefined) values.push(value);
    const isTold = (last || step === IDLE_STEPS) && steps === step && values.length > 0;
    if (!isTold || values.some((value) => value > idle.atMost)) return [];
    return [
      {
        type: 'warning',
        code: 'recipe-idle',
        message: `step ${step}: this recipe changes nothing here so far: ${idle.means} (${idle.metric} was never above ${idle.atMost})`,
      },
    ];
  };
}

/** A step that learned nothing says so, and why. */
function nothingLearned(step: number, { why }: Update, groups: readonly RoleGroup[]): StoredEvent {
  const constant = constantShare(groups);
  const equal =
    constant === undefined ? '' : `${Math.round(100 * constant)}% of groups had equal returns, so `;
  const reason =
    groups.length === 0 ? 'no group had enough usable episodes' : `${equal}every advantage was zero`;
  return {
    type: 'warning',
    code: 'nothing-learned',
    message: `step ${step}: no update was made, because ${why ?? reason}`,
  };
}
