/** Task sources and curations by name. */

import { TurnwiseError } from '../core/errors.ts';
import { definitionRegistry, type Registry } from '../core/registry.ts';
import type { DefinedCuration } from './curation.ts';
import { dart } from './dart.ts';
import { dynamicSampling } from './dynamic-sampling.ts';
import { exit } from './exit.ts';
import { failureReplay } from './failure-replay.ts';
import { guidance } from './guidance.ts';
import { overTurns } from './over-turns.ts';
import { perplexity } from './perplexity.ts';
import { resampleOnCorrect } from './resample-on-correct.ts';
import { revisit } from './revisit.ts';
import { selfImitationReplay } from './self-imitation.ts';
import { successReplay } from './success-replay.ts';
import type { DefinedTasks } from './task-source.ts';
import { uncertainTurns } from './uncertain-turns.ts';
import { uniform } from './uniform.ts';
import { varied } from './varied.ts';
import { voidTurns } from './void-turns.ts';

export const tasksRegistry: Registry<DefinedTasks> = definitionRegistry(
  'tasks',
  (parts) => new TurnwiseError('unknown-tasks', parts),
  [uniform, revisit, failureReplay, dart, exit, guidance],
);

export const curationRegistry: Registry<DefinedCuration> = definitionRegistry(
  'curation',
  (parts) => new TurnwiseError('unknown-curation', parts),
  [
    dynamicSampling,
    varied,
    voidTurns,
    overTurns,
    resampleOnCorrect,
    successReplay,
    selfImitationReplay,
    perplexity,
    uncertainTurns,
  ],
);
