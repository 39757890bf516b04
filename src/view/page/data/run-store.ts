/** A run that is being looked at: what the server told of it, and what has happened since. */

import { batch, type Signal, signal } from '@preact/signals';
import { exactNumber } from '../../../core/json/exact-json.ts';
import type { TimedEvent } from '../../../store/log-lines.ts';
import { withEvents, withStored } from '../../live-overview.ts';
import { type Axis, axes, decodeSeries, type Series, type SeriesTable } from '../../series.ts';
import type { Problem, RunOverview } from '../../shapes.ts';
import { ask, askJson, Refusal, runPath } from './client.ts';
import { forget } from './loaded.ts';
import { listen } from './stream.ts';

/** What is not in the events (checkpoints, judgements) is asked for again so long after one. */
const overviewAfterMs = 30_000;
const episodesEveryMs = 4000;
/** They are read again after so many times what an overview took, so that the server of a long run stays as idle as that of a short one. */
const restPerWork = 25;
const mostRestMs = 15_000;
/** More events at once are read again. */
const mostFolded = 200;

/** Steps whose episodes were stored, as the server tells. */
interface Stored {
  readonly steps: readonly number[];
  readonly evaluations: readonly number[];
}

type Timer = ReturnType<typeof setTimeout>;

export class RunStore {
  readonly run: string;
  readonly overview: Signal<RunOverview | undefined> = signal(undefined);
  readonly problem: Signal<Problem | undefined> = signal(undefined);
  readonly curves: Signal<SeriesTable | undefined> = signal(undefined);
  /** Changes when episodes were stored. */
  readonly episodes: Signal<number> = signal(0);
  readonly #stop = new AbortController();
  readonly #names: readonly string[];
  #pending: TimedEvent[] = [];
  #again: Timer | undefined;
  #grown: Timer | undefined;
  #told = { steps: [] as number[], evaluations: [] as number[] };
  #isConnected = false;
  /** What the first overview took. */
  #tookMs = 0;

  /** @param names the metrics that are drawn */
  constructor(run: string, names: readonly string[]) {
    this.run = run;
    this.#names = names;
    void this.#begin();
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#again);
    clearTimeout(this.#grown);
  }

  async #begin(): Promise<void> {
    const { signal: stopped } = this.#stop;
    try {
      const from = performance.now();
      const [overview, curves] = await this.#read();
      this.#tookMs = performance.now() - from;
      batch(() => {
        this.overview.value = overview;
        this.curves.value = curves;
      });
      const path = `/api/live?run=${encodeURIComponent(this.run)}&after=${overview.offset}`;
      await listen(path, stopped, ({ event, data }) => this.#take(event, data));
    } catch (error) {
      if (stopped.aborted) return;
      this.problem.value =
        error instanceof Refusal ? error.problem : { code: 'unexpected', message: String(error) };
    }
  }

  async #read(): Promise<[RunOverview, SeriesTable]> {
    const { signal: stopped } = this.#stop;
    const names = this.#names.map(encodeURIComponent).join(',');
    const pixels = Math.ceil(Math.min(document.documentElement.clientWidth, 1232));
    const read = async (): Promise<SeriesTable> => {
      const path = runPath(this.run, `/metrics?names=${names}&px=${pixels}`);
      return decodeSeries(await (await ask(path, { signal: stopped })).arrayBuffer());
    };
    const [overview, curves] = await Promise.all([askJson<RunOverview>(runPath(this.run), stopped), read()]);
    // Live events go on from the overview: a step that it knows must be in the curves.
    const isBehind = (curves.axes.step.at(-1) ?? 0) < overview.history.step;
    return [overview, isBehind ? await read() : curves];
  }

  #take(kind: string, data: string): void {
    if (kind === 'event') {
      this.#pending.push(JSON.parse(data) as TimedEvent);
      // As many as come until the next frame are drawn together; a page that nobody sees has none.
      if (this.#pending.length === 1) requestAnimationFrame(() => this.#fold());
    } else if (kind === 'episodes') {
      this.#addStored(JSON.parse(data) as Partial<Stored>);
    } else if (kind === 'generation') {
      void this.#reload();
    } else if (kind === 'state' || (kind === 'hello' && this.#isConnected)) {
      // Ended without a word; or connected again, and nobody told what was stored meanwhile.
      this.#refresh(0);
    } else {
      this.#isConnected = true;
    }
  }

  #fold(): void {
    const events = this.#pending;
    this.#pending = [];
    const { value: overview } = this.overview;
    if (!overview || this.#stop.signal.aborted) return;
    if (events.length > mostFolded || events.some(({ keeps }) => keeps !== undefined)) {
      void this.#reload();
      return;
    }
    batch(() => {
      this.overview.value = withEvents(overview, events);
      for (const event of events) if (event.type === 'step') this.#addStep(event);
    });
    if (events.some(({ type }) => type === 'finish')) this.#refresh(0);
    else if (this.#again === undefined) this.#refresh(overviewAfterMs);
  }

  /** Not more often than people look. */
  #addStored({ steps, evaluations }: Partial<Stored>): void {
    if (!steps || !evaluations) {
      this.#refresh(0);
      return;
    }
    this.#told.steps.push(...steps);
    this.#told.evaluations.push(...evaluations);
    this.#grown ??= setTimeout(
      () => requestAnimationFrame(() => this.#showStored()),
      Math.min(mostRestMs, Math.max(episodesEveryMs, restPerWork * this.#tookMs)),
    );
  }

  #showStored(): void {
    this.#grown = undefined;
    const told = this.#told;
    this.#told = { steps: [], evaluations: [] };
    if (!this.#stop.signal.aborted) this.#setOverview(withStored(this.overview.value!, told));
  }

  /** Episodes of the newest step are asked for again. */
  #setOverview(overview: RunOverview): void {
    forget(runPath(this.run, '/places'));
    batch(() => {
      this.overview.value = overview;
      this.episodes.value++;
    });
  }

  #addStep({ step, time, metrics, spent }: Extract<TimedEvent, { readonly type: 'step' }>): void {
    const { value: table } = this.curves;
    if (!table || step <= (table.axes.step.at(-1) ?? 0)) return;
    const place: Record<Axis, number> = {
      step,
      minute: (Date.parse(time) - (table.began || Date.parse(time))) / 60_000,
      episode: spent.episodes,
      turn: spent.turns,
      token: spent.tokens,
    };
    this.curves.value = {
      began: table.began || Date.parse(time),
      bucket: table.bucket,
      axes: Object.fromEntries(
        axes.map((axis) => [axis, appendedDouble(table.axes[axis], place[axis])]),
      ) as Record<Axis, Float64Array>,
      series: Object.fromEntries(
        Object.entries(table.series).map(([name, { min, max, mean }]): [string, Series] => {
          const value = exactNumber(metrics[name]) ?? Number.NaN;
          return [
            name,
            { min: appended(min, value), max: appended(max, value), mean: appended(mean, value) },
          ];
        }),
      ),
    };
  }

  #refresh(afterMs: number): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#again = undefined;
      askJson<RunOverview>(runPath(this.run), this.#stop.signal).then(
        (overview) => {
          const { value: known } = this.overview;
          // Events that came meanwhile are not in it.
          const { history, latest, failed, metrics, episodes } =
            known && known.history.last > overview.history.last ? known : overview;
          const merged = { ...overview, history, latest, failed, metrics, episodes };
          // Now and then, and nothing was stored that was not told: what is drawn of it stays.
          if (afterMs > 0 && known?.stored.at(-1) === merged.stored.at(-1)) this.overview.value = merged;
          else this.#setOverview(merged);
        },
        () => {},
      );
    }, afterMs);
  }

  async #reload(): Promise<void> {
    try {
      const [overview, curves] = await this.#read();
      forget(runPath(this.run));
      batch(() => {
        this.overview.value = overview;
        this.curves.value = curves;
        this.episodes.value++;
      });
    } catch {
      // The connection is opened again, and then it is read again.
    }
  }
}

function appended(column: Float32Array, value: number): Float32Array {
  const longer = new Float32Array(column.length + 1);
  longer.set(column);
  longer[column.length] = value;
  return longer;
}

function appendedDouble(column: Float64Array, value: number): Float64Array {
  const longer = new Float64Array(column.length + 1);
  longer.set(column);
  longer[column.length] = value;
  return longer;
}
