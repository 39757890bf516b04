/** What the source of tasks, the turn control and the curations remember of a step, and the episodes that are named in it. */

import type { EpisodeKey, Group } from '../../core/episode.ts';
import { keysIn } from '../../core/episode-key.ts';
import type { Json } from '../../core/json/json.ts';
import type { Remembering } from '../../core/remembers.ts';
import { Rng } from '../../core/rng.ts';
import { usableGroups } from '../../curation/usable.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Kept } from '../kit/learn.ts';
import type { Learner } from '../kit/learner.ts';
import type { Memory } from './learn-step.ts';
import { seatable } from './requests.ts';

type Remembered = Pick<Memory, 'tasks' | 'turns' | 'curation'>;

/**
 * Their memories after a step.
 *
 * @param groups with the credit of the step
 * @throws TurnwiseError `definition-invalid`, `definition-failed`
 */
export function remembered(
  learner: Pick<Learner, 'config' | 'tasks' | 'turns' | 'curations' | 'world' | 'seats'>,
  groups: readonly Group[],
  before: Remembered,
  step: number,
): Remembered {
  const { config, tasks, turns, curations } = learner;
  const usable = usableGroups(groups);
  const after = (one: Remembering, memory: Json, ...name: readonly string[]): Json =>
    memoryAfter(one, usable, memory, { seed: config.seed, step, name });
  return {
    tasks: tasks.remember(usable, {
      ...{ step, memory: before.tasks, rng: Rng.of('remember', config.seed, step, 'tasks') },
      ...seatable(learner, step + 1),
    }),
    turns: after(turns, before.turns, 'turns'),
    // One that a stage leaves out keeps what it remembers.
    curation: {
      ...before.curation,
      ...Object.fromEntries(
        [...curations].map(([name, curation]) => [
          name,
          after(curation, before.curation[name] ?? null, 'curation', name),
        ]),
      ),
    },
  };
}

/** The memory of the turn control after a step. @throws as `remembered` */
export function turnMemoryAfter(
  { config: { seed }, turns }: { readonly config: Pick<TrainConfig, 'seed'>; readonly turns: Remembering },
  groups: readonly Group[],
  memory: Json,
  step: number,
): Json {
  return memoryAfter(turns, usableGroups(groups), memory, { seed, step, name: ['turns'] });
}

function memoryAfter(
  one: Remembering,
  usable: readonly Group[],
  memory: Json,
  { seed, step, name }: { readonly seed: number; readonly step: number; readonly name: readonly string[] },
): Json {
  return one.remember(usable, { step, memory, rng: Rng.of('remember', seed, step, ...name) });
}

/** What the source of tasks says of its memory after a step: `tasks/<name>`. */
export function taskMetrics(
  { config, tasks }: Pick<Learner, 'config' | 'tasks'>,
  memory: Json,
  step: number,
): Readonly<Record<string, number>> {
  const told = tasks.metrics({ step, memory, rng: Rng.of('metrics', config.seed, step, 'tasks') });
  return Object.fromEntries(Object.entries(told).map(([name, value]) => [`tasks/${name}`, value]));
}

/** The episodes that may be read again: what the recipe keeps, and whatever the memories name. */
export function keptKeys(keep: readonly Kept[], { tasks, turns, curation }: Remembered): EpisodeKey[] {
  return [...keep.map(({ episode }) => episode), ...keysIn([tasks, turns, curation])];
}
