/** Equilibria of small two-player zero-sum games, by counterfactual regret minimisation. */

import type { GameNode, GameTree, Strategy } from './exploitability.ts';

interface Choice {
  readonly seat: 0 | 1;
  readonly regrets: Float64Array;
  readonly deltas: Float64Array;
  readonly current: Float64Array;
  readonly total: Float64Array;
}

interface Place {
  readonly choice?: Choice;
  readonly children: readonly Place[];
  readonly payoff: number;
}

/**
 * A strategy for both roles whose exploitability falls with `iterations`: the linearly weighted average of CFR+
 * (Tammelin 2014, arXiv 1407.5042), with alternating updates. Deterministic; its keys are those of `InformationSet.key`.
 *
 * @example
 * const tree = gameTree(game);
 * exploitability(tree, regretMinimisation(tree, 300)); // close to 0
 */
export function regretMinimisation(tree: GameTree, iterations: number): Strategy {
  const choices = new Map<string, Choice>(
    tree.informationSets.map(({ key, role, actions }) => {
      const zeros = (): Float64Array => new Float64Array(actions.length);
      const current = zeros().fill(1 / actions.length);
      const seat = role === tree.roles[0] ? 0 : 1;
      return [key, { seat, regrets: zeros(), deltas: zeros(), current, total: zeros() }];
    }),
  );
  const place = ({ set, children, payoff }: GameNode): Place => ({
    ...(set && { choice: choices.get(set.key)! }),
    children: children.map(place),
    payoff,
  });
  const roots = tree.roots.map(place);
  for (let iteration = 1; iteration <= iterations; iteration++) {
    for (const seat of [0, 1] as const) {
      for (const root of roots) walk(root, seat, 1, 1, iteration);
      for (const choice of choices.values()) if (choice.seat === seat) update(choice);
    }
  }
  return Object.fromEntries(
    tree.informationSets.map(({ key, actions }) => {
      const { total } = choices.get(key)!;
      const empty = total.every((weight) => weight === 0);
      return [key, Object.fromEntries(actions.map((action, a) => [action, empty ? 1 : total[a]!]))];
    }),
  );
}

/** What `seat` wins from here; notes what its other actions would have won. `own` and `others` are the players' shares of getting here. */
function walk(
  { choice, children, payoff }: Place,
  seat: 0 | 1,
  own: number,
  others: number,
  weight: number,
): number {
  if (choice === undefined) return seat === 0 ? payoff : -payoff;
  const { current, deltas, total } = choice;
  let mean = 0;
  if (choice.seat !== seat) {
    // Also where the other never goes at present: the average has to hold against one who does.
    for (let a = 0; a < children.length; a++)
      mean += current[a]! * walk(children[a]!, seat, own, others * current[a]!, weight);
    return mean;
  }
  for (let a = 0; a < children.length; a++) {
    const share = current[a]!;
    const value = walk(children[a]!, seat, own * share, others, weight);
    mean += share * value;
    deltas[a]! += others * value;
    total[a]! += weight * own * share;
  }
  for (let a = 0; a < children.length; a++) deltas[a]! -= others * mean;
  return mean;
}

function update({ regrets, deltas, current }: Choice): void {
  let sum = 0;
  for (let a = 0; a < regrets.length; a++) {
    regrets[a] = Math.max(0, regrets[a]! + deltas[a]!);
    deltas[a] = 0;
    sum += regrets[a]!;
  }
  for (let a = 0; a < regrets.length; a++) current[a] = sum > 0 ? regrets[a]! / sum : 1 / regrets.length;
}
