/** Whether one role of a game wins what the others lose, as far as random play shows: no tree is walked, so any size will do. */

import type { Json } from '../core/json/json.ts';
import { Rng } from '../core/rng.ts';
import type { Game } from '../env/game.ts';

const PLAYS = 64;

/** True where the rewards of every play cancelled and some were not 0. A game that lists no actions is taken for another kind. */
export function isZeroSum<Task extends Json, State extends Json>(game: Game<Task, State>): boolean {
  if (game.roles.length < 2 || game.actions === undefined) return false;
  const rng = Rng.of('zero-sum');
  let stakes = 0;
  for (let play = 0; play < PLAYS; play++) {
    const totals = playAtRandom(game, rng);
    if (Math.abs(totals.reduce((sum, total) => sum + total, 0)) > 1e-9) return false;
    stakes += Math.max(...totals.map(Math.abs));
  }
  return stakes > 0;
}

/** What each role earned, in the order of the roles. */
function playAtRandom<Task extends Json, State extends Json>(game: Game<Task, State>, rng: Rng): number[] {
  const tasks = game.tasks('train');
  const totals = new Map(game.roles.map((role) => [role, 0]));
  let state = game.start(tasks.at(rng.int(Math.min(tasks.size, 2 ** 20))), rng);
  for (let turn = 0; turn < game.maxTurns * game.roles.length; turn++) {
    const role = game.toMove(state);
    const actions = role === undefined ? [] : (game.actions?.(state, role) ?? []);
    if (role === undefined || actions.length === 0) break;
    const step = game.step(state, role, rng.pick(actions), rng);
    for (const [earner, reward] of Object.entries(step.rewards))
      totals.set(earner, (totals.get(earner) ?? 0) + reward);
    state = step.state;
  }
  return [...totals.values()];
}
