/** One run on disk: its configuration, events, rollouts and checkpoints. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { type Checkpoint, type CheckpointManifest, Checkpoints } from './checkpoints.ts';
import { type Disk, errnoOf, realDisk, writeError } from './disk.ts';
import { EventLog } from './event-log.ts';
import { takeLock } from './lock.ts';
import { parseRunFile, type RunFile, serializeRunFile } from './run-file.ts';
import { runNames, unknownRun } from './runs.ts';

export interface CreateRun<Config> {
  /** The folder that holds all runs. */
  readonly root: string;
  /** Default: `<environment>-<recipe>-<next free number>`. */
  readonly name?: string;
  /** Version of Turnwise. */
  readonly version: string;
  readonly environment: string;
  readonly recipe: string;
  /** Resolved: everything that decides what the run does. */
  readonly config: Config;
  readonly disk?: Disk;
}

export interface OpenRun {
  readonly root: string;
  readonly name: string;
  readonly version: string;
  readonly disk?: Disk;
}

export interface RunCheckpoint {
  readonly step: number;
  readonly identity: string;
  readonly keep: number;
  readonly state: Json;
  write(folder: string): Promise<void>;
}

export class RunDirectory {
  readonly name: string;
  readonly path: string;
  readonly events: EventLog;
  readonly checkpoints: Checkpoints;
  readonly #version: string;
  readonly #disk: Disk;
  readonly #unlock: (() => void) | undefined;

  private constructor({ root, name, version, disk = realDisk }: OpenRun, forWriting: boolean) {
    this.name = name;
    this.path = join(root, name);
    this.#version = version;
    this.#disk = disk;
    this.#unlock = forWriting ? takeLock(join(this.path, 'run.lock'), name, disk) : undefined;
    this.events = new EventLog(join(this.path, 'events.jsonl'), disk, `turnwise resume ${name}`);
    this.checkpoints = new Checkpoints(join(this.path, 'checkpoints'), name, version, disk);
  }

  /**
   * Make a new run and take its lock.
   *
   * @throws TurnwiseError `run-name`, `run-exists`, `disk-full`, `disk-failed`
   */
  static create<Config>(request: CreateRun<Config>): RunDirectory {
    const { root, version, environment, recipe, config, disk = realDisk } = request;
    let claimed: string | undefined;
    try {
      disk.makeFolder(root);
      const name = request.name ?? claimFreeName(root, `${environment}-${recipe}`, disk);
      if (request.name !== undefined) claimName(root, name, disk);
      claimed = join(root, name);
      const run = new RunDirectory({ root, name, version, disk }, true);
      const file: RunFile = { turnwise: version, environment, recipe, config };
      disk.replaceFile(join(run.path, 'config.json'), serializeRunFile(file));
      return run;
    } catch (error) {
      if (claimed !== undefined) disk.remove(claimed);
      throw writeError(error, claimed ?? root, 'Nothing was started', 'run the same command again');
    }
  }

  /**
   * Take the lock of an existing run, and remove what a killed process left unfinished.
   *
   * @throws TurnwiseError `run-unknown`, `run-busy`
   */
  static openForWriting(request: OpenRun): RunDirectory {
    requireRun(request);
    const run = new RunDirectory(request, true);
    run.events.repair();
    run.checkpoints.clean();
    return run;
  }

  /** @throws TurnwiseError `run-unknown` */
  static openForReading(request: OpenRun): RunDirectory {
    requireRun(request);
    return new RunDirectory(request, false);
  }

  /**
   * The configuration the run was started with, checked by `schema`.
   *
   * @throws TurnwiseError `config-version` for one that this version cannot read, `config-corrupt`
   */
  readConfig<Schema extends z.ZodType>(schema: Schema): RunFile<z.output<Schema>> {
    const path = join(this.path, 'config.json');
    return parseRunFile(readFileSync(path, 'utf8'), path, this.#version, schema);
  }

  /** Store the rollouts of a step, one JSON value a line; an earlier file of that step is replaced as a whole. */
  async writeRollouts(step: number, rollouts: Iterable<Json | object>): Promise<void> {
    const path = join(this.path, 'rollouts', `${step}.jsonl`);
    const lines = function* (): Iterable<string> {
      for (const rollout of rollouts) yield JSON.stringify(rollout);
    };
    try {
      this.#disk.makeFolder(join(this.path, 'rollouts'));
      await this.#disk.replaceLines(path, lines());
    } catch (error) {
      throw writeError(error, path, this.#keptSoFar(), `continue with: turnwise resume ${this.name}`);
    }
  }

  /** Steps whose rollouts are stored, oldest first. */
  rolloutSteps(): number[] {
    const folder = join(this.path, 'rollouts');
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .flatMap((name) => /^(\d+)\.jsonl$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  }

  /** Write a file for people beside the events, such as the curve. */
  writeText(name: string, text: string): string {
    const path = join(this.path, name);
    try {
      this.#disk.replaceFile(path, text);
    } catch (error) {
      throw writeError(
        error,
        path,
        this.#keptSoFar(),
        `see the results with: turnwise runs show ${this.name}`,
      );
    }
    return path;
  }

  /** Save a checkpoint that remembers how long the event log is now. */
  saveCheckpoint(checkpoint: RunCheckpoint): Promise<CheckpointManifest> {
    return this.checkpoints.save({ ...checkpoint, eventBytes: this.events.bytes });
  }

  /** Forget everything written after `checkpoint`: events, rollouts and later checkpoints. */
  rewind(checkpoint: Checkpoint): void {
    this.events.truncate(checkpoint.manifest.eventBytes);
    for (const step of this.rolloutSteps().filter((step) => step > checkpoint.step)) {
      this.#disk.remove(join(this.path, 'rollouts', `${step}.jsonl`));
    }
    for (const step of this.checkpoints.steps().filter((step) => step > checkpoint.step)) {
      this.checkpoints.remove(step);
    }
  }

  /** Give the lock back. */
  close(): void {
    this.#unlock?.();
  }

  #keptSoFar(): string {
    const last = this.checkpoints.steps().at(-1);
    return last === undefined
      ? 'All events are kept'
      : `All events and the checkpoint of step ${last} are kept`;
  }
}

function requireRun({ root, name }: OpenRun): void {
  if (!existsSync(join(root, name, 'config.json'))) throw unknownRun(root, name);
}

function claimName(root: string, name: string, disk: Disk): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw new TurnwiseError('run-name', {
      what: 'The run name cannot be a folder name',
      seen: JSON.stringify(name),
      allowed: 'letters, digits, ".", "_" and "-", starting with a letter or digit',
      next: 'Choose another name',
    });
  }
  try {
    disk.makeNewFolder(join(root, name));
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    throw new TurnwiseError('run-exists', {
      what: `A run named "${name}" already exists`,
      seen: join(root, name),
      next: `Continue it with "turnwise resume ${name}", choose another --name, or delete the folder`,
      fields: { run: name },
    });
  }
}

function claimFreeName(root: string, prefix: string, disk: Disk): string {
  const numbers = runNames(root)
    .filter((name) => name.startsWith(`${prefix}-`))
    .map((name) => Number(name.slice(prefix.length + 1)))
    .filter(Number.isInteger);
  for (let number = Math.max(0, ...numbers) + 1; ; number++) {
    try {
      disk.makeNewFolder(join(root, `${prefix}-${number}`));
      return `${prefix}-${number}`;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
  }
}
