/** A run's folder: made, opened under its lock for one writer, closed and removed. What lies in it is in stored-run.ts. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeError } from '../core/write-error.ts';
import { type Disk, realDisk } from './disk.ts';
import { takeLock } from './lock.ts';
import { type RunFile, type RunWorld, refuseOldFormat, serializeRunFile } from './run-file.ts';
import { checkName, claimName } from './run-name.ts';
import { unknownRun } from './runs.ts';
import { type OpenRun, StoredRun } from './stored-run.ts';

export type { OpenRun, RunCheckpoint } from './stored-run.ts';

export interface CreateRun<Config> {
  /** The folder that holds all runs. */
  readonly root: string;
  /** Default: `<world>-<recipe>-<next free number>`. */
  readonly name?: string;
  /** Version of Turnwise. */
  readonly version: string;
  readonly world: RunWorld;
  /** How it is found again. */
  readonly recipe: string;
  /** SHA-256 of the user's code files, by their paths. */
  readonly files?: RunFile['files'];
  /** How it is called. Default: as it is found. */
  readonly recipeName?: string;
  /** Resolved: everything that decides what the run does. */
  readonly config: Config;
  readonly disk?: Disk;
}

export class RunDirectory extends StoredRun {
  readonly #root: string;
  readonly #disk: Disk;
  /** Absent in a run that is only read. */
  readonly #unlock: (() => void) | undefined;

  private constructor(open: OpenRun, unlock: (() => void) | undefined) {
    super(open);
    this.#root = open.root;
    this.#disk = open.disk ?? realDisk;
    this.#unlock = unlock;
  }

  /** The lock is taken before anything is read. */
  static #locked(open: OpenRun): RunDirectory {
    const { root, name, disk = realDisk } = open;
    return new RunDirectory(open, takeLock(join(root, name, 'run.lock'), name, disk));
  }

  /**
   * Make a new run and take its lock.
   *
   * @throws TurnwiseError `run-name`, `run-exists`, `disk-full`, `disk-failed`
   */
  static create<Config>(request: CreateRun<Config>): RunDirectory {
    const { root, version, world, recipe, files, config, disk = realDisk } = request;
    if (request.name !== undefined) checkName(request.name);
    // Filled before it gets its name, so that a process killed here leaves no run without a configuration.
    const starting = join(root, `.starting-${process.pid}`);
    try {
      disk.remove(starting);
      disk.makeFolder(starting);
      const hasFiles = files && Object.keys(files).length > 0;
      const file: RunFile = { turnwise: version, world, recipe, ...(hasFiles && { files }), config };
      disk.replaceFile(join(starting, 'config.json'), serializeRunFile(file));
      const name = claimName(root, starting, request, disk);
      return RunDirectory.#locked({ root, name, version, disk });
    } catch (error) {
      disk.remove(starting);
      throw writeError(error, root, 'Nothing was started', 'run the same command again');
    }
  }

  /**
   * Take the lock of an existing run, and remove what a killed process left unfinished.
   *
   * @throws TurnwiseError `run-unknown`, `run-busy`, `config-version` for a run of an earlier format
   */
  static openForWriting(request: OpenRun): RunDirectory {
    requireRun(request);
    const { root, name } = request;
    let run: RunDirectory | undefined;
    try {
      run = RunDirectory.#locked(request);
      run.repair();
      return run;
    } catch (error) {
      if (run) run.#unlock?.();
      throw writeError(error, join(root, name), 'Nothing was changed', 'run the same command again');
    }
  }

  /** @throws TurnwiseError `run-unknown`, `config-version` for a run of an earlier format */
  static openForReading(request: OpenRun): RunDirectory {
    requireRun(request);
    return new RunDirectory(request, undefined);
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
      this.#unlock?.();
    }
  }

  /**
   * Wait for what is still being stored, and give the lock back.
   *
   * @throws TurnwiseError `disk-full`, `disk-failed` where episodes could not be stored
   */
  async close(): Promise<void> {
    try {
      await this.settled();
    } finally {
      this.#unlock?.();
    }
  }
}

function requireRun({ root, name }: OpenRun): void {
  const path = join(root, name, 'config.json');
  if (!existsSync(path)) throw unknownRun(root, name);
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // `readConfig` says so, where somebody needs it.
    return;
  }
  refuseOldFormat(content);
}
