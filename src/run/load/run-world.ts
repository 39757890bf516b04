/** The world of a run that exists: found again as it was loaded, or given by whoever has it. */

import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import type { WorldFactory } from '../../env/factory.ts';
import type { World } from '../../env/world.ts';
import type { RunFile } from '../../store/run-file.ts';
import { commandIn } from '../../store/runs.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Definition } from './definitions.ts';
import { findEnvironment } from './environments.ts';
import { CODE, sourceKind, typedSource } from './world-source.ts';

/** A run, its folder, and what whoever asks for its world has of it. */
export interface WorldRequest {
  readonly root: string;
  readonly name: string;
  /** The world itself, where it cannot be loaded or need not be. */
  readonly world?: WorldFactory;
  /** Definitions that only a program has. */
  readonly definitions?: readonly Definition[];
}

/**
 * The world of a run with the options that the run has.
 *
 * @throws TurnwiseError `world-in-code` where only a program has it, `run-other-environment` where it is not the one that was
 * trained in; as `findEnvironment`
 */
export async function worldOfRun(
  request: WorldRequest,
  file: Pick<RunFile<TrainConfig>, 'world' | 'config'>,
): Promise<World> {
  const { source, name } = file.world;
  if (request.world === undefined && source === CODE) throw worldInCode(request, name);
  const factory = request.world ?? (await findEnvironment(source));
  const schema = factory.options as z.ZodType<JsonObject>;
  const world = factory.create(parseStrict(schema, file.config.environment, `Environment "${factory.name}"`));
  if (world.name === name) return world;
  // Runs of before remote worlds had names of their own go on under the chance that hangs on the address.
  if (name === source && sourceKind(source) === 'address') return { ...world, name };
  if (request.world) throw otherWorld(request, file.world, world.name);
  throw renamed(request, file.world, world.name);
}

/** Chance and episodes of a run are keyed by its world's name, so another one is refused whatever it does. */
export function otherWorld(
  { root, name }: WorldRequest,
  trained: RunFile['world'],
  seen: string,
): TurnwiseError {
  const typed = typedSource(trained.source);
  return new TurnwiseError('run-other-environment', {
    what: `Run "${name}" was trained in another environment`,
    seen,
    allowed: typed === undefined ? `${trained.name}, an object made in code` : trained.name,
    ...(typed !== undefined && { next: `Watch it with: ${commandIn(root, `play ${typed} --run ${name}`)}` }),
    fields: { run: name, environment: trained.name },
  });
}

/** It was found where it was, and is called something else now. */
function renamed(
  { name }: WorldRequest,
  { name: before, source }: RunFile['world'],
  now: string,
): TurnwiseError {
  return new TurnwiseError('run-other-environment', {
    what: `The world of run "${name}" has another name than when the run began, and its chance is keyed by that name`,
    seen: `"${now}" in ${typedSource(source)}`,
    allowed: `"${before}"`,
    next: 'Give it the old name again, or start a new run',
    fields: { run: name, environment: before },
  });
}

function worldInCode({ root, name }: WorldRequest, world: string): TurnwiseError {
  return new TurnwiseError('world-in-code', {
    what: `Run "${name}" was trained in "${world}", an object made in code, which cannot be loaded from here`,
    next: `Go on in that program with resume('${name}', { world }); ${commandIn(root, `runs show ${name}`)} and ${commandIn(root, `export ${name}`)} need no world`,
    fields: { run: name, environment: world },
  });
}
