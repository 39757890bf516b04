/** Models that score a run's episodes and do not learn in it: a teacher, and a reward model. */

import { resolve } from 'node:path';
import type { World } from '../env/world.ts';
import type { TrainConfig } from '../train/config/config.ts';
import type { Learner } from '../train/kit/learner.ts';
import type { ModelCard } from '../train/model-card.ts';
import { dataPlace } from './data/recorded-data.ts';
import type { HeldBase } from './model/run-model.ts';
import { type OpenTeacher, openTeacher, teacherPlace } from './players/open-teacher.ts';
import { type Rewarded, rewardedWorld } from './reward/rewarded-world.ts';
import type { RunControl } from './run-io.ts';

export interface Scorers extends Pick<Rewarded, 'probes'> {
  /** What a learner is told of them: its world pays by the reward model. */
  readonly parts: Pick<Learner, 'world'> & Partial<Pick<Learner, 'teacher'>>;
  close(): Promise<void>;
}

/** @throws TurnwiseError as `openTeacher` and `rewardedWorld` */
export async function openScorers(
  { root, signal, spend, onDownload }: Pick<RunControl, 'root' | 'signal' | 'spend' | 'onDownload'>,
  { config, card, world }: { readonly config: TrainConfig; readonly card: ModelCard; readonly world: World },
  held: HeldBase,
): Promise<Scorers> {
  const { teacher: named, threads } = config;
  const search = { signal, ...(onDownload && { onDownload }) };
  let teacher: OpenTeacher | undefined;
  if (named !== '')
    teacher = await openTeacher({
      ...search,
      ...(spend && { spend }),
      teacher: named,
      threads,
      root,
      card,
      held,
    });
  try {
    const rewarded = await rewardedWorld(world, config, search);
    return {
      parts: { world: rewarded.world, ...(teacher && { teacher }) },
      probes: rewarded.probes,
      close: async () => {
        await Promise.all([teacher?.close(), rewarded.close()]);
      },
    };
  } catch (error) {
    await teacher?.close();
    throw error;
  }
}

/**
 * The configuration with the files that it names as `config.json` keeps them: by their absolute paths.
 *
 * @throws TurnwiseError `file-unknown`
 */
export function withPlaces(root: string, config: TrainConfig): TrainConfig {
  const { data, teacher, rewardModel } = config;
  const { folder } = rewardModel;
  return {
    ...config,
    data: dataPlace(root, data),
    teacher: teacherPlace(root, teacher),
    rewardModel: { ...rewardModel, folder: folder === '' ? '' : resolve(folder) },
  };
}
