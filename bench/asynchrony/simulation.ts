/** What acting and learning would take where nothing but delays and learning took any time: the ideal that a run is held to. */

export interface Simulated {
  /** Of each step, how long its episodes take in the order in which they are asked for. */
  readonly steps: readonly (readonly number[])[];
  /** Time that learning a step takes. */
  readonly learning: number;
  /** Episodes under way at once. */
  readonly slots: number;
  readonly maxStaleness: number;
}

/** When each step was learned. Episodes begin in the order in which they are asked for, as soon as a slot is free. */
export function simulate({ steps, learning, slots, maxStaleness }: Simulated): number[] {
  const free: number[] = new Array(slots).fill(0);
  const learned: number[] = [];
  for (const [step, episodes] of steps.entries()) {
    const asked = learned[step - 1 - maxStaleness] ?? 0;
    let acted = asked;
    for (const duration of episodes) {
      const slot = free.indexOf(Math.min(...free));
      free[slot] = Math.max(free[slot]!, asked) + duration;
      acted = Math.max(acted, free[slot]!);
    }
    learned.push(Math.max(acted, learned[step - 1] ?? 0) + learning);
  }
  return learned;
}
