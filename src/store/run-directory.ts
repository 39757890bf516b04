/** One run on disk: its configuration, events, rollouts and checkpoints. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { errnoOf, writeError } from '../core/write-error.ts';
import { type Checkpoint, type CheckpointManifest, Checkpoints } from './checkpoints.ts';
import { type Disk, realDisk } from './disk.ts';
import { EventLog } from './event-log.ts';
import { takeLock } from './lock.ts';
import { parseRunFile, type RunFile, serializeRunFile } from './run-file.ts';
import { commandIn, runNames, unknownRun } from './runs.ts';

export interface CreateRun<Config> {
  /** The folder that holds all runs. */
  readonly root: string;
  /** Default: `<environment>-<recipe>-<next free number>`. */
  readonly name?: string;
  /** Version of Turnwise. */
  readonly version: string;
  /** How the environment is found again: its name, or the file that it is in. */
  readonly environment: string;
  /** What the run is named after. Default: `environment`. */
  readonly label?: string;
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
  readonly #root: string;
  /** The command that continues this run. */
  readonly #resume: string;
  readonly #disk: Disk;
  readonly #unlock: (() => void) | undefined;

  private constructor({ root, name, version, disk = realDisk }: OpenRun, forWriting: boolean) {
    this.name = name;
    this.path = join(root, name);
    this.#version = version;
    this.#root = root;
    this.#resume = commandIn(root, `resume ${name}`);
    this.#disk = disk;
    this.#unlock = forWriting ? takeLock(join(this.path, 'run.lock'), name, disk) : undefined;
    this.events = new EventLog(join(this.path, 'events.jsonl'), disk, this.#resume);
    this.checkpoints = new Checkpoints({
      folder: join(this.path, 'checkpoints'),
      run: name,
      continueWith: this.#resume,
      version,
      disk,
    });
  }

  /**
   * Make a new run and take its lock.
   *
   * @throws TurnwiseError `run-name`, `run-exists`, `disk-full`, `disk-failed`
   */
  static create<Config>(request: CreateRun<Config>): RunDirectory {
    const { root, version, environment, recipe, config, disk = realDisk } = request;
    if (request.name !== undefined) checkName(request.name);
    // Filled before it gets its name, so that a process killed here leaves no run without a configuration.
    const starting = join(root, `.starting-${process.pid}`);
    try {
      disk.remove(starting);
      disk.makeFolder(starting);
      const file: RunFile = { turnwise: version, environment, recipe, config };
      disk.replaceFile(join(starting, 'config.json'), serializeRunFile(file));
      const name = claimName(root, starting, request, disk);
      return new RunDirectory({ root, name, version, disk }, true);
    } catch (error) {
      disk.remove(starting);
      throw writeError(error, root, 'Nothing was started', 'run the same command again');
    }
  }

  /**
   * Take the lock of an existing run, and remove what a killed process left unfinished.
   *
   * @throws TurnwiseError `run-unknown`, `run-busy`
   */
  static openForWriting(request: OpenRun): RunDirectory {
    requireRun(request);
    const { root, name } = request;
    let run: RunDirectory | undefined;
    try {
      run = new RunDirectory(request, true);
      run.events.repair();
      run.checkpoints.clean();
      return run;
    } catch (error) {
      run?.close();
      throw writeError(error, join(root, name), 'Nothing was changed', 'run the same command again');
    }
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

  /**
   * Store rollouts, one JSON value a line; an earlier file of that label is replaced as a whole.
   *
   * @param label a step, or the name of an evaluation
   */
  async writeRollouts(label: number | string, rollouts: Iterable<Json | object>): Promise<void> {
    const path = join(this.path, 'rollouts', `${label}.jsonl`);
    const lines = function* (): Iterable<string> {
      for (const rollout of rollouts) yield JSON.stringify(rollout);
    };
    try {
      this.#disk.makeFolder(join(this.path, 'rollouts'));
      await this.#disk.replaceLines(path, lines());
    } catch (error) {
      throw writeError(error, path, this.#keptSoFar(), `continue with: ${this.#resume}`);
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

  /** The file of the rollouts stored under `label`, where there is one. */
  rolloutsPath(label: number | string): string | undefined {
    const path = join(this.path, 'rollouts', `${label}.jsonl`);
    return existsSync(path) ? path : undefined;
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
        `see the results with: ${commandIn(this.#root, `runs show ${this.name}`)}`,
      );
    }
    return path;
  }

  /** Save a checkpoint that remembers how long the event log is now. */
  saveCheckpoint(checkpoint: RunCheckpoint): Promise<CheckpointManifest> {
    return this.checkpoints.save({ ...checkpoint, eventBytes: this.events.bytes });
  }

  /** Forget everything written after `checkpoint`: events, rollouts and later checkpoints. Without one: everything. */
  rewind(checkpoint: Checkpoint | undefined): void {
    const last = checkpoint?.step ?? -1;
    this.events.truncate(checkpoint?.manifest.eventBytes ?? 0);
    for (const step of this.rolloutSteps().filter((step) => step > last)) {
      this.#disk.remove(join(this.path, 'rollouts', `${step}.jsonl`));
    }
    for (const step of this.checkpoints.steps().filter((step) => step > last)) {
      this.checkpoints.remove(step);
    }
  }

  /** Remove the run, all of it. Renamed first, so that a half-deleted folder is no run. */
  remove(): void {
    const leaving = join(this.#root, `.removed-${this.name}-${process.pid}`);
    try {
      this.#disk.rename(this.path, leaving);
      this.#disk.remove(leaving);
    } catch (error) {
      throw writeError(error, this.path, 'Some of it may be left', 'run the same command again');
    } finally {
      this.close();
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

function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(name)) return;
  throw new TurnwiseError('run-name', {
    what: 'The run name cannot be a folder name',
    seen: JSON.stringify(name),
    allowed: 'letters, digits, ".", "_", "+" and "-", starting with a letter or digit',
    next: 'Choose another name',
  });
}

/** Gives the folder `starting` the wanted name, or the next free number. */
function claimName(root: string, starting: string, request: CreateRun<unknown>, disk: Disk): string {
  const { name, environment, label = environment, recipe } = request;
  // An address such as openenv:ws://host:8000 makes no folder name.
  const prefix = `${label.replaceAll(/[^\w.-]+/g, '-')}-${recipe}-`;
  const numbers = runNames(root)
    .filter((other) => other.startsWith(prefix))
    .map((other) => Number(other.slice(prefix.length)))
    .filter(Number.isInteger);
  for (let number = Math.max(0, ...numbers) + 1; ; number++) {
    const candidate = name ?? `${prefix}${number}`;
    try {
      // Fails where the folder exists, unless it is empty.
      disk.rename(starting, join(root, candidate));
      return candidate;
    } catch (error) {
      if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
      if (name !== undefined) throw runExists(root, name);
    }
  }
}

function runExists(root: string, name: string): TurnwiseError {
  return new TurnwiseError('run-exists', {
    what: `A run named "${name}" already exists`,
    seen: join(root, name),
    next: `Continue it with "${commandIn(root, `resume ${name}`)}", choose another --name, or delete the folder`,
    fields: { run: name },
  });
}
