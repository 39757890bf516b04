/** Task sources and curations by name. */

import { TurnwiseError } from '../core/errors.ts';
import { definitionRegistry, type Registry } from '../core/registry.ts';
import type { DefinedCuration } from './curation.ts';
import { dynamicSampling } from './dynamic-sampling.ts';
import { overTurns } from './over-turns.ts';
import { perplexity } from './perplexity.ts';
import { resampleOnCorrect } from './resample-on-correct.ts';
import { selfImitationReplay } from './self-imitation.ts';
import { successReplay } from './success-replay.ts';
import { curriculum } from './tasks/curriculum.ts';
import { dart } from './tasks/dart.ts';
import { exit } from './tasks/exit.ts';
import { failureReplay } from './tasks/failure-replay.ts';
import { guidance } from './tasks/guidance.ts';
import { league } from './tasks/league/league.ts';
import { revisit } from './tasks/revisit.ts';
import type { DefinedTasks } from './tasks/task-source.ts';
import { uniform } from './tasks/uniform.ts';
import { uncertainTurns } from './uncertain-turns.ts';
import { varied } from './varied.ts';
import { voidTurns } from './void-turns.ts';

export const tasksRegistry: Registry<DefinedTasks> = definitionRegistry(
  'tasks',
  (parts) => new TurnwiseError('unknown-tasks', parts),
  [uniform, revisit, failureReplay, curriculum, dart, exit, guidance, league],
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
