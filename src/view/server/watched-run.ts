/**
 * A run as the viewer reads it: what has not changed since it was last asked for is not read again. Nothing is ever written,
 * and no lock is taken.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../core/json/json.ts';
import { EventTail } from '../../store/event-tail.ts';
import { isLocked } from '../../store/lock.ts';
import { readMetrics } from '../../store/metrics-file.ts';
import { indexName } from '../../store/rollouts/reindex.ts';
import { RolloutReader } from '../../store/rollouts/rollout-reader.ts';
import { parseRunFile, type RunFile } from '../../store/run-file.ts';
import { type History, noHistory, withEvent } from '../history.ts';
import type { RunState } from '../state.ts';
import { columnsOf, type MetricColumns, readColumns } from './files/metric-columns.ts';
import { placesIn, placesOf, type StoredPlaces } from './files/stored-places.ts';
import { MetricTable } from './metric-table.ts';

export class WatchedRun {
  readonly name: string;
  readonly path: string;
  readonly #version: string;
  readonly #tail: EventTail;
  #history: History = noHistory;
  #metrics: { readonly mark: string; readonly table: MetricTable } | undefined;
  #rollouts: { readonly mark: string; readonly reader: RolloutReader } | undefined;
  #places: { readonly mark: string; readonly places: StoredPlaces } | undefined;
  #config: { readonly mark: string; readonly file: RunFile<JsonObject> } | undefined;

  constructor(root: string, name: string, version: string) {
    this.name = name;
    this.path = join(root, name);
    this.#version = version;
    this.#tail = new EventTail(this.eventsPath);
  }

  get eventsPath(): string {
    return join(this.path, 'events.jsonl');
  }

  get rolloutsPath(): string {
    return join(this.path, 'rollouts');
  }

  get indexPath(): string {
    return join(this.rolloutsPath, indexName);
  }

  /** The configuration. @throws TurnwiseError `config-version`, `config-corrupt` */
  config(): RunFile<JsonObject> {
    const path = join(this.path, 'config.json');
    const mark = markOf(path);
    if (this.#config?.mark !== mark) {
      const file = parseRunFile(readFileSync(path, 'utf8'), path, this.#version, z.looseObject({}));
      this.#config = { mark, file: file as RunFile<JsonObject> };
    }
    return this.#config.file;
  }

  /** What the log tells so far, and up to which byte. */
  history(): { readonly history: History; readonly offset: number; readonly damaged: number } {
    const { restarted, lines } = this.#tail.next();
    if (restarted) this.#history = noHistory;
    for (const { event } of lines) this.#history = withEvent(this.#history, event);
    return { history: this.#history, offset: this.#tail.offset, damaged: this.#tail.damaged };
  }

  state(): RunState {
    if (this.history().history.summary) return 'finished';
    return isLocked(join(this.path, 'run.lock')) ? 'running' : 'stopped';
  }

  metrics(): MetricTable {
    const path = join(this.path, 'metrics.bin');
    const mark = `${markOf(path)} ${markOf(this.eventsPath)}`;
    if (this.#metrics?.mark !== mark)
      this.#metrics = { mark, table: new MetricTable(readColumns(path) ?? this.#loggedColumns()) };
    return this.#metrics.table;
  }

  /** A damaged table is as good as none: the log has the same numbers. */
  #loggedColumns(): MetricColumns {
    return columnsOf(readMetrics(join(this.path, 'no-metrics'), this.eventsPath));
  }

  /** What is stored, without a look at each file. */
  places(): StoredPlaces {
    const mark = this.#rolloutMark();
    if (this.#places?.mark !== mark) {
      const places = placesIn(this.rolloutsPath, this.indexPath) ?? placesOf(this.rollouts().index);
      this.#places = { mark, places };
    }
    return this.#places.places;
  }

  /** What reads episodes. */
  rollouts(): RolloutReader {
    const mark = this.#rolloutMark();
    if (this.#rollouts?.mark !== mark) {
      this.history();
      this.#rollouts = { mark, reader: RolloutReader.open(this.rolloutsPath, this.#tail.generations) };
    }
    return this.#rollouts.reader;
  }

  #rolloutMark(): string {
    return `${markOf(this.indexPath)} ${markOf(this.rolloutsPath)}`;
  }

  /** Steps with a checkpoint, oldest first. */
  checkpoints(): number[] {
    try {
      const names = readdirSync(join(this.path, 'checkpoints'));
      return names.flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : [])).sort((a, b) => a - b);
    } catch {
      return [];
    }
  }

  /** Changes whenever something of the run may have. */
  mark(): string {
    return [this.eventsPath, this.indexPath, join(this.path, 'config.json'), join(this.path, 'run.lock')]
      .map(markOf)
      .join(' ');
  }
}

/** Which file this is, how long, and since when; empty where there is none. */
export function markOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.ino}-${stat.size}-${stat.mtimeMs}` : '';
}
