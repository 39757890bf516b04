/** Numbers as standard scores within their groups. */

export function standardScores(values: readonly number[], groups: readonly string[]): number[] {
  return values.map((value, index) => {
    const own = values.filter((_, other) => groups[other] === groups[index]);
    const mean = own.reduce((sum, each) => sum + each, 0) / own.length;
    const variance = own.reduce((sum, each) => sum + (each - mean) ** 2, 0) / Math.max(1, own.length - 1);
    return (value - mean) / (Math.sqrt(variance) + 1e-6);
  });
}
