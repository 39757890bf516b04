/** What a run stores: configuration, events, metrics, episodes, evaluations and checkpoints. It knows nothing of locks. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import type { Json } from '../core/json/json.ts';
import { writeError } from '../core/write-error.ts';
import type { StoredEvent } from '../train/loop/events.ts';
import { type Checkpoint, type CheckpointManifest, Checkpoints } from './checkpoints.ts';
import { type Disk, realDisk } from './disk.ts';
import { type EvaluatedTasks, readEvaluatedTasks, writeEvaluatedTasks } from './evaluation-tasks.ts';
import { EventLog } from './event-log.ts';
import { isAfter } from './generations.ts';
import { readEventFile } from './log-lines.ts';
import { type MetricRow, MetricsFile, readMetrics } from './metrics-file.ts';
import { IndexFile } from './rollouts/index-file.ts';
import { indexName, rebuildIndex, repairIndex } from './rollouts/reindex.ts';
import { RolloutReader } from './rollouts/rollout-reader.ts';
import { type EvaluationGroups, RolloutWriter } from './rollouts/rollout-writer.ts';
import type { ShardOrigin } from './rollouts/shard.ts';
import { parseRunFile, type RunFile } from './run-file.ts';
import { commandIn } from './runs.ts';
import { keepTokenizer, type TokenizerSource } from './tokenizer-file.ts';

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

/** What a run keeps on disk. */
export class StoredRun {
  readonly name: string;
  readonly path: string;
  readonly events: EventLog;
  readonly checkpoints: Checkpoints;
  readonly #version: string;
  readonly #root: string;
  /** The command that continues this run. */
  readonly #resume: string;
  readonly #disk: Disk;
  readonly #metrics: MetricsFile;
  #rollouts: RolloutWriter | undefined;

  constructor({ root, name, version, disk = realDisk }: OpenRun) {
    this.name = name;
    this.path = join(root, name);
    this.#version = version;
    this.#root = root;
    this.#resume = commandIn(root, `resume ${name}`);
    this.#disk = disk;
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
    await this.settled();
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

  /**
   * Wait for episodes that are still being stored.
   *
   * @throws TurnwiseError `disk-full`, `disk-failed`
   */
  async settled(): Promise<void> {
    await this.#rollouts?.settled();
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
  repair(): void {
    this.checkpoints.clean();
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
