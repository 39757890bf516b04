/** Task sources and curations by name. */

import { TurnwiseError } from '../core/errors.ts';
import { definitionRegistry, type Registry } from '../core/registry.ts';
import type { DefinedCuration } from './curation.ts';
import { dynamicSampling } from './dynamic-sampling.ts';
import { revisit } from './revisit.ts';
import type { DefinedTasks } from './task-source.ts';
import { uniform } from './uniform.ts';
import { varied } from './varied.ts';
import { voidTurns } from './void-turns.ts';

export const tasksRegistry: Registry<DefinedTasks> = definitionRegistry(
  'tasks',
  (parts) => new TurnwiseError('unknown-tasks', parts),
  [uniform, revisit],
);

export const curationRegistry: Registry<DefinedCuration> = definitionRegistry(
  'curation',
  (parts) => new TurnwiseError('unknown-curation', parts),
  [dynamicSampling, varied, voidTurns],
);
