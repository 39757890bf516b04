/**
 * How much a strategy that reads positions alone loses to its worst opponent, exactly, in two-player zero-sum games in which nothing
 * is hidden. Positions are walked once, however many games lead to them: TicTacToe has 549,946 histories and 5478 positions.
 */

import { canonicalJson, type Json } from '../core/json/json.ts';
import type { Split } from '../env/environment.ts';
import type { Game } from '../env/game.ts';
import type { Role } from '../env/session.ts';
import { distribution, type InformationSet, type Strategy } from './exploitability.ts';
import { WalkableGame } from './walkable-game.ts';

/** A position with what each action leads to, which other positions may lead to as well. */
export interface Position {
  /** Absent at the end of the game. Its `past` is empty: whoever plays reads the position alone. */
  readonly set?: InformationSet;
  /** One for each of the set's actions; `payoff` is what the first role gets on the way. */
  readonly moves: readonly { readonly position: Position; readonly payoff: number }[];
}

export interface PositionGraph {
  readonly roles: readonly [Role, Role];
  /** One for each position in which somebody acts. */
  readonly informationSets: readonly InformationSet[];
  /** One for each task; all are equally likely. */
  readonly roots: readonly Position[];
}

const MOST_POSITIONS = 200_000;

/**
 * Every position of a game with two roles and nothing hidden, whose chance lies all in its tasks.
 * Raises `game-not-enumerable` where it has other roles, chance, endless tasks, unlisted actions, more than `mostPositions`, or
 * positions that a role cannot tell apart although they go on differently; `game-not-zero-sum`.
 *
 * @example
 * const graph = gamePositions(ticTacToeGame(0));
 * bestAnswer(graph, uniformStrategy(graph), 'first'); // 191/192
 */
export function gamePositions<Task, State>(
  game: Game<Task, State>,
  split: Split = 'test',
  mostPositions: number = MOST_POSITIONS,
): PositionGraph {
  const walkable = new WalkableGame(game, split, 'positions');
  const known = new Map<string, { readonly position: Position; readonly goesOn: string }>();
  const over: Position = { moves: [] };
  const keyOf = (state: State, role: Role | undefined): string =>
    role === undefined ? 'over' : `${role}: ${game.anchor(state, role)}`;

  const visit = (state: State): Position => {
    const role = game.toMove(state);
    if (role === undefined) return over;
    const key = keyOf(state, role);
    const actions = walkable.actions(state, role);
    const steps = actions.map((action) => walkable.step(state, role, action, key));
    const messages = game.observe(state, role);
    const leadsTo = steps.map(({ next, payoff }) => [payoff, keyOf(next, game.toMove(next))]);
    const goesOn = canonicalJson([actions, messages, leadsTo] as unknown as Json);
    const before = known.get(key);
    if (before !== undefined) {
      if (before.goesOn === goesOn) return before.position;
      throw walkable.refusal(`two positions that are one in ${key}`, 'games in which nothing is hidden');
    }
    if (known.size === mostPositions)
      throw walkable.refusal(`more than ${mostPositions} positions`, 'games with fewer');
    const moves: { position: Position; payoff: number }[] = [];
    const position: Position = { set: { key, role, actions, past: [], messages }, moves };
    known.set(key, { position, goesOn });
    for (const { next, payoff } of steps) moves.push({ position: visit(next), payoff });
    return position;
  };

  const roots = walkable.roots(visit);
  return {
    roles: walkable.roles,
    informationSets: [...known.values()].map(({ position }) => position.set!),
    roots,
  };
}

/** What the first role wins on average when both play `strategy`. */
export const positionValue = (graph: PositionGraph, strategy: Strategy): number =>
  solved(graph, strategy, undefined);

/** The most that `role` can win on average against `strategy`: backward induction, since nothing is hidden. */
export function bestAnswer(graph: PositionGraph, strategy: Strategy, role: Role): number {
  const value = solved(graph, strategy, role);
  return role === graph.roles[0] ? value : -value;
}

/** Half of NashConv, as `exploitability` of a game tree: 0 exactly where the strategy keeps the value of every position it meets. */
export function positionExploitability(graph: PositionGraph, strategy: Strategy): number {
  return graph.roles.reduce((sum, role) => sum + bestAnswer(graph, strategy, role), 0) / 2;
}

/** The first role's mean winnings, where `best` answers as well as can be. */
function solved({ roles, roots }: PositionGraph, strategy: Strategy, best: Role | undefined): number {
  const values = new Map<Position, number>();
  const value = (position: Position): number => {
    const before = values.get(position);
    if (before !== undefined) return before;
    const { set, moves } = position;
    const own = moves.map((move) => move.payoff + value(move.position));
    let found = 0;
    if (set !== undefined && set.role === best)
      found = best === roles[0] ? Math.max(...own) : Math.min(...own);
    else if (set !== undefined) {
      const shares = distribution(strategy, set);
      found = own.reduce((sum, one, a) => sum + shares[a]! * one, 0);
    }
    values.set(position, found);
    return found;
  };
  return roots.reduce((sum, root) => sum + value(root), 0) / roots.length;
}
