/** The questions: two operations, one after the other, on a variable that the sandbox holds. */

import { hash32, Rng } from '../../src/core/rng.ts';
import type { Split, TaskSet } from '../../src/env/environment.ts';
import { applyOperation, type Kind, OPERATION_NAMES, OPERATIONS, type Value } from './operations.ts';

export type JsTask = {
  /** Applied first. */
  readonly inner: string;
  readonly outer: string;
  readonly source: 'xs' | 'ys' | 'word';
  readonly xs: readonly number[];
  readonly ys: readonly number[];
  readonly word: string;
  /** Whether the lists come as JSON text, which must be parsed before use. */
  readonly packed: boolean;
};

export interface Composition {
  readonly inner: string;
  readonly outer: string;
}

const WORDS = ['amber', 'cedar', 'delta', 'ember', 'lemon', 'maple', 'olive', 'river', 'stone', 'tulip'];
const SPLITS: Readonly<Record<number, Split>> = { 0: 'test', 1: 'validation' };
const MAX_DRAWS = 200;
/** A seed with which each operation occurs in training both as the first and as the second. */
const HASH_SEED = 84;

/** The split of a pair of operations, by a hash of their names: a pair is never in two. */
export function splitOf({ inner, outer }: Composition): Split {
  return SPLITS[hash32(`${outer} of ${inner}`, HASH_SEED) % 5] ?? 'train';
}

/** Every pair of operations that fit and that no single operation can stand in for. */
export const COMPOSITIONS: readonly Composition[] = OPERATION_NAMES.filter(
  (inner) => OPERATIONS[inner]!.from !== 'number',
).flatMap((inner) =>
  OPERATION_NAMES.filter((outer) => OPERATIONS[outer]!.from === OPERATIONS[inner]!.to)
    .map((outer) => ({ inner, outer }))
    .filter((pair) => draw(pair, Rng.of('js-tasks', pair.inner, pair.outer)) !== undefined),
);

/** `inner` and `outer` of a split, with values drawn for the index; `packedShare` of the list questions come as text. */
export function jsTasks(split: Split, packedShare: number): TaskSet<JsTask> {
  const pairs = COMPOSITIONS.filter((pair) => splitOf(pair) === split);
  return {
    size: Number.POSITIVE_INFINITY,
    at: (index) => {
      const rng = Rng.of('js-tasks', split, index);
      const packed = rng.chance(packedShare);
      for (;;) {
        const task = draw(rng.pick(pairs), rng);
        if (task !== undefined) return { ...task, packed };
      }
    },
  };
}

export function answerOf({ inner, outer, ...task }: JsTask): Value {
  return applyOperation(outer, applyOperation(inner, task[task.source]));
}

/**
 * What the expert runs before it submits, who knows no more than it is told: that a list comes as text shows when it is
 * used.
 */
export function expertRuns({ inner, outer, source, packed }: JsTask): readonly string[] {
  const first = `r = ${inner}(${source})`;
  const parsing = packed && source !== 'word' ? [first, `${source} = parse(${source})`] : [];
  return [...parsing, first, `r = ${outer}(r)`];
}

/** As the sandbox shows a value. */
export function show(value: Value): string {
  return JSON.stringify(value);
}

/** Values for which neither the variable itself nor any single operation on it gives the answer. */
function draw({ inner, outer }: Composition, rng: Rng): JsTask | undefined {
  const from: Kind = OPERATIONS[inner]!.from;
  for (let attempt = 0; attempt < MAX_DRAWS; attempt++) {
    const task: JsTask = {
      inner,
      outer,
      source: from === 'text' ? 'word' : rng.chance(0.5) ? 'xs' : 'ys',
      xs: Array.from({ length: 5 }, () => 1 + rng.int(9)),
      ys: Array.from({ length: 5 }, () => 1 + rng.int(9)),
      word: rng.pick(WORDS),
      packed: false,
    };
    const source = task[task.source];
    const middle = applyOperation(inner, source);
    if (Array.isArray(middle) && middle.length === 0) continue;
    const shortcuts = OPERATION_NAMES.filter((name) => OPERATIONS[name]!.from === from);
    const reachable = [source, ...shortcuts.map((name) => applyOperation(name, source))].map(show);
    if (!reachable.includes(show(answerOf(task)))) return task;
  }
  return undefined;
}
