/** The metrics of a run by column, and each at several resolutions, so that a chart never reads more than it can show. */

import type { Axis, Series, SeriesTable } from '../series.ts';
import type { MetricColumns } from './files/metric-columns.ts';

/** Rows of one level that a point of the next stands for. */
const factor = 4;
const spent = { episode: 'spent/episodes', turn: 'spent/turns', token: 'spent/tokens' } as const;

/** What lies beside the metrics of a step, for the axes. */
const isSpent = (name: string): boolean => name.startsWith('spent/');

export interface MetricSummary {
  readonly name: string;
  readonly first: number | null;
  readonly last: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

export class MetricTable {
  readonly #stored: MetricColumns;
  readonly #columns = new Map<string, Float64Array>();
  readonly #levels = new Map<string, Series[]>();

  constructor(stored: MetricColumns) {
    this.#stored = stored;
  }

  get length(): number {
    return this.#stored.steps.length;
  }

  /** Names of what was measured in any step, sorted. */
  names(): string[] {
    const lists = new Set(this.#stored.names);
    return [...new Set([...lists].flat())].filter((name) => !isSpent(name)).sort();
  }

  /** The metrics of the last step. */
  latest(): Record<string, number> {
    const { names, starts, numbers } = this.#stored;
    const start = starts.at(-1) ?? 0;
    const last = (names.at(-1) ?? []).map((name, place) => [name, numbers[start + place]!] as const);
    return Object.fromEntries(last.filter(([name]) => !isSpent(name)));
  }

  sum(name: string): number {
    return this.#column(name).reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0);
  }

  summary(name: string): MetricSummary {
    const finite = this.#column(name).filter(Number.isFinite);
    const [min, max] = finite.reduce(
      ([low, high], value) => [Math.min(low, value), Math.max(high, value)] as const,
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as const,
    );
    return finite.length === 0
      ? { name, first: null, last: null, min: null, max: null }
      : { name, first: finite[0]!, last: finite.at(-1)!, min, max };
  }

  /** @param pixels how wide the chart is: a point of the answer is at most two of them wide */
  series(names: readonly string[], pixels: number): SeriesTable {
    let level = 0;
    while (Math.ceil(this.length / factor ** (level + 1)) >= pixels / 2) level++;
    const bucket = factor ** level;
    const last = (column: Float64Array): Float64Array =>
      Float64Array.from({ length: Math.ceil(column.length / bucket) }, (_, point) => {
        return column[Math.min(column.length, (point + 1) * bucket) - 1]!;
      });
    return {
      began: this.#began,
      bucket,
      axes: Object.fromEntries(
        Object.entries(this.#axes()).map(([axis, column]) => [axis, last(column)]),
      ) as Record<Axis, Float64Array>,
      series: Object.fromEntries(names.map((name) => [name, this.#level(name, level)])),
    };
  }

  get #began(): number {
    return this.#stored.times[0] ?? 0;
  }

  #axes(): Record<Axis, Float64Array> {
    return {
      step: this.#stored.steps,
      minute: this.#stored.times.map((time) => (time - this.#began) / 60_000),
      episode: this.#column(spent.episode),
      turn: this.#column(spent.turn),
      token: this.#column(spent.token),
    };
  }

  #column(name: string): Float64Array {
    const known = this.#columns.get(name);
    if (known) return known;
    const { names, starts, numbers } = this.#stored;
    const column = new Float64Array(this.length);
    let [segment, place]: [readonly string[] | undefined, number] = [undefined, -1];
    for (let row = 0; row < column.length; row++) {
      // Rows of one segment share the list of their names.
      if (names[row] !== segment) {
        segment = names[row];
        place = segment!.indexOf(name);
      }
      column[row] = place < 0 ? Number.NaN : numbers[starts[row]! + place]!;
    }
    this.#columns.set(name, column);
    return column;
  }

  #level(name: string, level: number): Series {
    const levels = this.#levels.get(name) ?? [];
    if (levels.length === 0) {
      const values = Float32Array.from(this.#column(name));
      levels.push({ min: values, max: values, mean: values });
      this.#levels.set(name, levels);
    }
    while (levels.length <= level) levels.push(coarser(levels.at(-1)!));
    return levels[level]!;
  }
}

function coarser({ min, max, mean }: Series): Series {
  const length = Math.ceil(mean.length / factor);
  const next = {
    min: new Float32Array(length),
    max: new Float32Array(length),
    mean: new Float32Array(length),
  };
  for (let point = 0; point < length; point++) {
    let [low, high, sum, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
    for (let at = point * factor; at < Math.min(mean.length, (point + 1) * factor); at++) {
      if (Number.isNaN(mean[at]!)) continue;
      low = Math.min(low, min[at]!);
      high = Math.max(high, max[at]!);
      sum += mean[at]!;
      count++;
    }
    next.min[point] = count > 0 ? low : Number.NaN;
    next.max[point] = count > 0 ? high : Number.NaN;
    next.mean[point] = count > 0 ? sum / count : Number.NaN;
  }
  return next;
}
