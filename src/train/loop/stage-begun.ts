/** Tells where a stage of a run begins. */

import type { Json } from '../../core/json/json.ts';
import type { TrainConfig } from '../config/config.ts';
import { type StageEnds, settingsOf, stageOf } from '../config/stages.ts';
import type { StoredEvent } from './events.ts';

/** What is told where a stage begins with this step, or the last one has ended. */
export function stageBegun({ stages }: TrainConfig, step: number, ends?: StageEnds): StoredEvent[] {
  const stage = stageOf(stages, step, ends);
  if (stages.length === 0 || (step > 1 && stage === stageOf(stages, step - 1, ends))) return [];
  const number = stage === -1 ? stages.length + 1 : stage + 1;
  const set = settingsOf(stages[stage]?.set ?? {}) as Record<string, Json>;
  return [{ type: 'stage', step, stage: number, set }];
}
