/** Labels that would lie upon each other. */

/** Places in [low, high] as near as can be to those wanted, in their order, each at least `gap` from the next. */
export function keptApart(
  wanted: readonly number[],
  gap: number,
  [low, high]: readonly [number, number],
): number[] {
  const order = [...wanted.keys()].sort((a, b) => wanted[a]! - wanted[b]!);
  // Isotonic regression of what is left when every gap is taken off: neighbours in the wrong order share their mean.
  const blocks: { sum: number; count: number }[] = [];
  for (const [rank, index] of order.entries()) {
    let block = { sum: wanted[index]! - rank * gap, count: 1 };
    for (let before = blocks.at(-1); before; before = blocks.at(-1)) {
      if (before.sum / before.count <= block.sum / block.count) break;
      block = { sum: block.sum + before.sum, count: block.count + before.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  const highest = high - (wanted.length - 1) * gap;
  const places = new Array<number>(wanted.length);
  let rank = 0;
  for (const { sum, count } of blocks) {
    const place = Math.max(low, Math.min(highest, sum / count));
    for (let member = 0; member < count; member++, rank++) places[order[rank]!] = place + rank * gap;
  }
  return places;
}
