/** One run on disk: its configuration, events, metrics, stored episodes, evaluations and checkpoints. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import type { Json } from '../core/json.ts';
import { writeError } from '../core/write-error.ts';
import type { StoredEvent } from '../train/events.ts';
import { type Checkpoint, type CheckpointManifest, Checkpoints } from './checkpoints.ts';
import { type Disk, realDisk } from './disk.ts';
import { type EvaluatedTasks, readEvaluatedTasks, writeEvaluatedTasks } from './evaluation-tasks.ts';
import { EventLog } from './event-log.ts';
import { isAfter } from './generations.ts';
import { IndexFile } from './index-file.ts';
import { takeLock } from './lock.ts';
import { readEventFile } from './log-lines.ts';
import { type MetricRow, MetricsFile, readMetrics } from './metrics-file.ts';
import { indexName, rebuildIndex, repairIndex } from './reindex.ts';
import { RolloutReader } from './rollout-reader.ts';
import { type EvaluationGroups, RolloutWriter } from './rollout-writer.ts';
import { parseRunFile, type RunFile, type RunWorld, refuseOldFormat, serializeRunFile } from './run-file.ts';
import { checkName, claimName } from './run-name.ts';
import { commandIn, unknownRun } from './runs.ts';
import type { ShardOrigin } from './shard.ts';
import { keepTokenizer, type TokenizerSource } from './tokenizer-file.ts';

export interface CreateRun<Config> {
  /** The folder that holds all runs. */
  readonly root: string;
  /** Default: `<world>-<recipe>-<next free number>`. */
  readonly name?: string;
  /** Version of Turnwise. */
  readonly version: string;
  readonly world: RunWorld;
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
  readonly #metrics: MetricsFile;
  #rollouts: RolloutWriter | undefined;

  private constructor({ root, name, version, disk = realDisk }: OpenRun, forWriting: boolean) {
    this.name = name;
    this.path = join(root, name);
    this.#version = version;
    this.#root = root;
    this.#resume = commandIn(root, `resume ${name}`);
    this.#disk = disk;
    this.#unlock = forWriting ? takeLock(join(this.path, 'run.lock'), name, disk) : undefined;
    const eventsPath = join(this.path, 'events.jsonl');
    this.#metrics = new MetricsFile(this.#metricsPath, eventsPath, disk);
    this.events = new EventLog({
      path: eventsPath,
      disk,
      continueWith: this.#resume,
      onAppend: (event) => this.#writing(this.#metricsPath, () => this.#metrics.add(event)),
    });
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
    const { root, version, world, recipe, config, disk = realDisk } = request;
    if (request.name !== undefined) checkName(request.name);
    // Filled before it gets its name, so that a process killed here leaves no run without a configuration.
    const starting = join(root, `.starting-${process.pid}`);
    try {
      disk.remove(starting);
      disk.makeFolder(starting);
      const file: RunFile = { turnwise: version, world, recipe, config };
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
   * @throws TurnwiseError `run-unknown`, `run-busy`, `config-version` for a run of an earlier format
   */
  static openForWriting(request: OpenRun): RunDirectory {
    requireRun(request);
    const { root, name } = request;
    let run: RunDirectory | undefined;
    try {
      run = new RunDirectory(request, true);
      run.checkpoints.clean();
      run.#repairRollouts();
      return run;
    } catch (error) {
      if (run) run.#unlock?.();
      throw writeError(error, join(root, name), 'Nothing was changed', 'run the same command again');
    }
  }

  /** @throws TurnwiseError `run-unknown`, `config-version` for a run of an earlier format */
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

  /** Keep what the token ids of this run mean. @returns the hash that `storeRollouts` takes */
  keepTokenizer(source: TokenizerSource): string {
    const path = join(this.path, 'tokenizer.json');
    return this.#writing(path, () => keepTokenizer(this.path, source, this.#disk));
  }

  /** Say what the episodes of this run are made of, once, after the generation is known and before any are stored. */
  storeRollouts(origin: ShardOrigin): RolloutWriter {
    this.#rollouts = new RolloutWriter({
      ...origin,
      folder: this.#rolloutsFolder,
      generation: this.events.generation,
      disk: this.#disk,
      failed: (error, path) => writeError(error, path, this.#keptSoFar(), `continue with: ${this.#resume}`),
    });
    return this.#rollouts;
  }

  /** Store an evaluation: its episodes, and how each task went. */
  async storeEvaluation(step: number, groups: EvaluationGroups): Promise<void> {
    if (!this.#rollouts) throw new Error('storeRollouts comes before storeEvaluation');
    const folder = this.#evaluationsFolder;
    this.#writing(folder, () => writeEvaluatedTasks(folder, step, groups, this.#disk));
    await this.#rollouts.writeEvaluation(step, groups);
  }

  /** The stored episodes as they are now. */
  readRollouts(): RolloutReader {
    return RolloutReader.open(this.#rolloutsFolder, readEventFile(this.events.path).generations);
  }

  /** How each task of the evaluation after a step went, where that is known. */
  readEvaluation(step: number): EvaluatedTasks | undefined {
    return readEvaluatedTasks(this.#evaluationsFolder, step);
  }

  /** All metrics, oldest first, also those of replaced stretches. */
  readMetrics(): MetricRow[] {
    return readMetrics(this.#metricsPath, this.events.path);
  }

  /** Build what is derived anew: the index of the episodes and the table of metrics. @returns records of the index */
  reindex(): number {
    return this.#writing(this.path, () => {
      this.#metrics.rebuild();
      this.#disk.makeFolder(this.#rolloutsFolder);
      const { generations } = readEventFile(this.events.path);
      return rebuildIndex(this.#index, this.#rolloutsFolder, generations);
    });
  }

  /**
   * Save a checkpoint that names how much of the event log it has seen. Everything that was stored before is on the device
   * first.
   */
  async saveCheckpoint(checkpoint: RunCheckpoint): Promise<CheckpointManifest> {
    await this.#rollouts?.settled();
    const { bytes: eventBytes, generation } = this.events;
    try {
      await this.events.flush();
    } catch (error) {
      throw writeError(error, this.events.path, this.#keptSoFar(), `continue with: ${this.#resume}`);
    }
    return this.checkpoints.save({ ...checkpoint, eventBytes, generation });
  }

  /**
   * Go on from a checkpoint, or from nothing: a new generation. What was written after the checkpoint no longer counts; it
   * stays on disk until it is written again.
   *
   * @returns warnings, to be stored after the `resume` (or `start`) event, which comes next
   */
  rewind(checkpoint: Checkpoint | undefined): readonly StoredEvent[] {
    const last = checkpoint?.step ?? -1;
    const warnings = this.events.openGeneration(checkpoint?.manifest);
    this.#writing(this.#index.path, () => this.#index.markReplaced(({ shard }) => isAfter(shard, last)));
    for (const step of this.checkpoints.steps().filter((step) => step > last)) {
      this.checkpoints.remove(step);
    }
    return warnings;
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
      if (this.#rollouts) await this.#rollouts.settled();
    } finally {
      this.#unlock?.();
    }
  }

  get #metricsPath(): string {
    return join(this.path, 'metrics.bin');
  }

  get #rolloutsFolder(): string {
    return join(this.path, 'rollouts');
  }

  get #evaluationsFolder(): string {
    return join(this.path, 'evaluations');
  }

  get #index(): IndexFile {
    return new IndexFile(join(this.#rolloutsFolder, indexName), this.#disk);
  }

  /** Remove files that a killed process left unfinished, and index those that it left out. */
  #repairRollouts(): void {
    const folder = this.#rolloutsFolder;
    if (!existsSync(folder)) return;
    for (const name of readdirSync(folder)) {
      if (name.endsWith('.tmp')) this.#disk.remove(join(folder, name));
    }
    repairIndex(this.#index, folder, readEventFile(this.events.path).generations);
  }

  #writing<T>(path: string, write: () => T): T {
    try {
      return write();
    } catch (error) {
      throw writeError(error, path, this.#keptSoFar(), `continue with: ${this.#resume}`);
    }
  }

  #keptSoFar(): string {
    const last = this.checkpoints.steps().at(-1);
    return last === undefined
      ? 'All events are kept'
      : `All events and the checkpoint of step ${last} are kept`;
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
