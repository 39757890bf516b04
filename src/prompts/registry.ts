/** Sources of prompts by name; and proposers, which are all of users. */

import { TurnwiseError } from '../core/errors.ts';
import { definitionRegistry, type Registry } from '../core/registry.ts';
import { experiences } from './experiences.ts';
import { none } from './none.ts';
import { population } from './population.ts';
import type { DefinedPrompts } from './prompt-source.ts';
import type { DefinedProposer } from './proposer.ts';
import { reflection } from './reflection.ts';

export const promptsRegistry: Registry<DefinedPrompts> = definitionRegistry(
  'prompts',
  (parts) => new TurnwiseError('unknown-prompts', parts),
  [none, population, experiences, reflection],
);

export const proposerRegistry: Registry<DefinedProposer> = definitionRegistry(
  'proposer',
  (parts) => new TurnwiseError('unknown-proposer', parts),
  [],
);
