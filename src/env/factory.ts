/** What an `envs/<name>/index.ts` exports: a world with options, so that `--set environment.slip=0.3` can be checked. */

import type { z } from 'zod';
import type { JsonObject } from '../core/json/json.ts';
import type { World } from './world.ts';

export interface WorldFactory<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** One line for lists. */
  readonly description: string;
  /** A strict object schema whose fields all have defaults and a `.describe(...)`. */
  readonly options: Schema;
  /** Training settings that were found to work here; layered over the recipe's, under the user's. */
  readonly settings?: JsonObject;
  /** The file it came from, where it is not built in: how a run finds it again. */
  readonly source?: string;
  create(options: z.output<Schema>): World;
}

export function defineWorld<Schema extends z.ZodType>(factory: WorldFactory<Schema>): WorldFactory<Schema> {
  return factory;
}
