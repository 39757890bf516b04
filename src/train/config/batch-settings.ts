/** Settings of batches that contradict each other, or the groups of a step. */

import { TurnwiseError } from '../../core/errors.ts';
import type { TrainConfig } from './config.ts';

/** Whether nothing is played while the learner learns, and all of a step is learned from at once. */
export function isSynchronous({ batches }: Pick<TrainConfig, 'batches'>): boolean {
  return batches.maxStaleness === 0 && batches.order === 'asked' && batches.parts === 1;
}

/** @throws TurnwiseError `config-invalid` */
export function requireBatches({ batches, rollout }: Pick<TrainConfig, 'batches' | 'rollout'>): void {
  const { maxStaleness, parts, order, extra } = batches;
  const wrong = (key: string, what: string, seen: string, next: string): TurnwiseError =>
    new TurnwiseError('config-invalid', { what, seen, next, fields: { key } });
  if (parts > rollout.tasks)
    throw wrong(
      'batches.parts',
      'A step cannot have more parts than groups',
      `batches.parts=${parts}, rollout.tasks=${rollout.tasks}`,
      `Set batches.parts to at most ${rollout.tasks}`,
    );
  if (extra > 0 && order === 'asked')
    throw wrong(
      'batches.extra',
      'A step that learns from its own groups has none to spare',
      `batches.extra=${extra}, batches.order=asked`,
      'Add batches.order=ended, or leave batches.extra out',
    );
  if (extra > 0 && maxStaleness === 0)
    throw wrong(
      'batches.extra',
      'Groups beyond those of a step would all be too old for the next, and be played in vain',
      `batches.extra=${extra}, batches.maxStaleness=0`,
      'Set batches.maxStaleness to 1 or more, or leave batches.extra out',
    );
  const apart = maxStaleness > 0 ? 'batches.maxStaleness' : order === 'ended' ? 'batches.order' : undefined;
  const why = apart ?? (parts > 1 ? 'batches.parts' : undefined);
  if (rollout.batching === 'lockstep' && why !== undefined)
    throw wrong(
      'rollout.batching',
      'In lockstep every live episode waits for the others, so no step can be played ahead, learned in parts, or learned from as groups end',
      `rollout.batching=lockstep, ${why}=${batches[why.slice('batches.'.length) as keyof typeof batches]}`,
      `Leave out one of them`,
    );
}
