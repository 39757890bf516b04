/** A run as a folder that `wandb sync` sends to W&B: nothing is sent while training. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { exactJson } from '../../../core/json/exact-json.ts';
import type { TimedEvent } from '../../../store/log-lines.ts';
import { measuredIn } from '../measured.ts';
import type { Message } from '../message.ts';
import type { RunEnd, Sink, SinkRun } from '../sink.ts';
import { WandbFile } from './wandb-file.ts';

export interface WandbOptions {
  /** Where the folder `wandb` is made. Default: the current folder. */
  readonly folder?: string;
  /** Default: `WANDB_PROJECT`, or `turnwise`. */
  readonly project?: string;
}

const exitCodes: Readonly<Record<RunEnd, number>> = { finished: 0, stopped: 255, failed: 1 };

/**
 * Write metrics, evaluations and settings to `wandb/offline-run-…`, which `wandb sync wandb/offline-run-…` sends; no account is
 * needed before, and no Python. The environment variables `WANDB_PROJECT`, `WANDB_ENTITY` and `WANDB_RUN_GROUP` count. A resumed
 * run writes its folder anew; where that was sent already, it goes on in a new one, for the same run.
 *
 * @example
 * await train({ world: 'frozen-lake', sinks: [wandb()] });
 */
export function wandb({
  folder = '.',
  project = process.env.WANDB_PROJECT ?? 'turnwise',
}: WandbOptions = {}): Sink {
  let run: SinkRun | undefined;
  let rows: Rows | undefined;
  return {
    open: (opened) => {
      run = opened;
      const past = run.past();
      rows = past[0] && new Rows(run, past[0], join(folder, 'wandb'), project);
      for (const event of past) rows?.add(event, true);
    },
    event: (event) => {
      rows ??= new Rows(run!, event, join(folder, 'wandb'), project);
      rows.add(event, false);
    },
    close: (end) => rows?.end(exitCodes[end]),
  };
}

/** Rows of the history. Their numbers grow over imitation and learning, which both count steps from 1. */
class Rows {
  readonly #file: WandbFile;
  readonly #began: number;
  /** What was sent already is not written again. */
  readonly #goesOn: boolean;
  #row = 0;

  /** @param first the first event of the run, by whose time its folder and its id are found again */
  constructor(run: SinkRun, first: TimedEvent, root: string, project: string) {
    this.#began = Date.parse(first.time);
    const id = createHash('sha256').update(`${run.run} ${first.time}`).digest('hex').slice(0, 8);
    const usual = folderOf(root, this.#began, id);
    this.#goesOn = existsSync(join(usual, `run-${id}.wandb.synced`));
    const path = this.#goesOn ? folderOf(root, Date.now(), id) : usual;
    for (const name of ['files', 'logs']) mkdirSync(join(path, name), { recursive: true });
    this.#file = new WandbFile(join(path, `run-${id}.wandb`));
    this.#file.add((record) => record.inner(17, (inner) => describe(inner, { id, project, run, first })));
    for (const [name, glob, steps] of [
      ['step', false, undefined],
      ['clone/step', false, undefined],
      ['clone/*', true, 'clone/step'],
      ['*', true, 'step'],
    ] as const) {
      this.#file.add((record) =>
        record.inner(12, (metric) => {
          metric.text(glob ? 2 : 1, name);
          if (steps) metric.text(4, steps);
        }),
      );
    }
  }

  add(event: TimedEvent, isPast: boolean): void {
    const measured = measuredIn(event);
    if (measured === undefined) return;
    const { kind, step, time, metrics } = measured;
    const row = this.#row++;
    if (isPast && this.#goesOn) return;
    const values = {
      ...metrics,
      [kind === 'clone' ? 'clone/step' : 'step']: step,
      _step: row,
      _timestamp: time / 1000,
      _runtime: (time - this.#began) / 1000,
    };
    const write = (list: Message): void => {
      for (const [name, value] of Object.entries(values)) {
        list.inner(1, (item) => item.text(2, name).text(16, jsonNumber(value)));
      }
    };
    this.#file.add((record) =>
      record.inner(2, (history) => {
        write(history);
        history.inner(2, (number) => number.int(1, row));
      }),
    );
    this.#file.add((record) => record.inner(3, write));
  }

  end(exitCode: number): void {
    const seconds = Math.round((Date.now() - this.#began) / 1000);
    this.#file.add((record) => record.inner(18, (exit) => exit.int(1, exitCode).int(2, seconds)));
  }
}

interface Described {
  readonly id: string;
  readonly project: string;
  readonly run: SinkRun;
  readonly first: TimedEvent;
}

function describe(record: Message, { id, project, run, first }: Described): void {
  const { WANDB_ENTITY: entity, WANDB_RUN_GROUP: group } = process.env;
  record.text(1, id);
  if (entity) record.text(2, entity);
  record.text(3, project);
  record.inner(4, (config) => {
    for (const [key, value] of Object.entries(run.config)) {
      if (value !== undefined) config.inner(1, (item) => item.text(1, key).text(16, exactJson(value)));
    }
  });
  if (group) record.text(6, group);
  record.text(8, run.run);
  record.text(10, run.environment).text(10, run.recipe);
  const seconds = Math.floor(Date.parse(first.time) / 1000);
  record.inner(17, (time) => time.int(1, seconds));
}

/** W&B reads what Python's JSON writes: NaN and the infinities as bare words. */
const jsonNumber = (value: number): string => String(value);

function folderOf(root: string, time: number, id: string): string {
  const text = new Date(time).toISOString();
  return join(
    root,
    `offline-run-${text.slice(0, 10).replaceAll('-', '')}_${text.slice(11, 19).replaceAll(':', '')}-${id}`,
  );
}
