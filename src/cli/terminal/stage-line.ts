/** Where a stage of a run begins, in a line. */

import { visible } from '../../core/visible.ts';
import type { StoredEvent } from '../../train/loop/events.ts';

/** `Stage 2 from step 11: rollout.maxTurns=8` */
export function stageLine({ step, stage, set }: Extract<StoredEvent, { readonly type: 'stage' }>): string {
  const settings = Object.entries(set).map(([path, value]) => `${path}=${JSON.stringify(value)}`);
  const told = settings.length === 0 ? 'the settings of the run' : visible(settings.join(' '));
  return `Stage ${stage} from step ${step}: ${told}`;
}
