/** A learning curve: its level along the way, and when it reached one. */

/** One evaluation: what had been spent by then, and how good the policy was. */
export interface CurvePoint {
  /** What had been spent: episodes, turns, tokens or seconds. Rises along the curve. */
  readonly spent: number;
  readonly value: number;
  /** How many episodes `value` is a share of, where it is one. */
  readonly episodes?: number;
}

/** The curve at `spent`: straight between evaluations, level beyond its ends. Needs at least one point. */
export function valueAt(curve: readonly CurvePoint[], spent: number): number {
  const next = curve.findIndex((point) => point.spent >= spent);
  if (next === -1) return curve.at(-1)!.value;
  const [after, before] = [curve[next]!, curve[next - 1]];
  if (before === undefined) return after.value;
  const share = (spent - before.spent) / (after.spent - before.spent);
  return before.value + share * (after.value - before.value);
}

/** Mean value from the first point to `end`: the area under the curve, divided by its width. */
export function meanValue(curve: readonly CurvePoint[], end: number): number {
  const start = curve[0]!.spent;
  if (end <= start) return curve[0]!.value;
  const inside = curve.filter(({ spent }) => spent > start && spent < end);
  const points = [curve[0]!, ...inside, { spent: end, value: valueAt(curve, end) }];
  let area = 0;
  for (let index = 1; index < points.length; index++) {
    const [a, b] = [points[index - 1]!, points[index]!];
    area += ((a.value + b.value) / 2) * (b.spent - a.spent);
  }
  return area / (end - start);
}

/** What had been spent when the curve first stood at `level`, judged along the line between evaluations; undefined: never. */
export function spentToReach(curve: readonly CurvePoint[], level: number): number | undefined {
  const reached = curve.findIndex(({ value }) => value >= level);
  if (reached < 1) return curve[reached]?.spent;
  const [before, after] = [curve[reached - 1]!, curve[reached]!];
  return (
    before.spent + ((level - before.value) / (after.value - before.value)) * (after.spent - before.spent)
  );
}
