/** Built-in worlds that need neither files nor processes. Runs name them as Node does. */

import { world as lake } from '../../envs/frozen-lake/index.ts';
import { world as guess } from '../../envs/guess-number/index.ts';
import { world as poker } from '../../envs/kuhn-poker/index.ts';
import { world as mazes } from '../../envs/maze/index.ts';
import { world as words } from '../../envs/wordle/index.ts';
import type { WorldFactory } from '../env/factory.ts';

const named = (world: WorldFactory): WorldFactory => ({ ...world, source: world.name });

export const frozenLake: WorldFactory = named(lake as unknown as WorldFactory);
export const guessNumber: WorldFactory = named(guess as unknown as WorldFactory);
export const kuhnPoker: WorldFactory = named(poker as unknown as WorldFactory);
export const maze: WorldFactory = named(mazes as unknown as WorldFactory);
export const wordle: WorldFactory = named(words as unknown as WorldFactory);
