/** What a game must be for every one of its positions to be visited; a walk that meets anything else refuses the game. */

import { TurnwiseError } from '../core/errors.ts';
import { Rng } from '../core/rng.ts';
import type { Split } from '../env/environment.ts';
import type { Game } from '../env/game.ts';
import type { Role } from '../env/session.ts';

export interface Winnings<State> {
  readonly next: State;
  /** What the first role gets, and the second pays. */
  readonly payoff: number;
}

/** A game of two roles whose chance lies all in its tasks, and whose actions can be listed. */
export class WalkableGame<Task, State> {
  readonly roles: readonly [Role, Role];
  readonly #game: Game<Task, State>;
  readonly #split: Split;
  readonly #walked: string;
  readonly #rng = Rng.of('walk');
  readonly #untouched = this.#rng.state.join();

  /** @param walked what is walked, for messages: "game tree" */
  constructor(game: Game<Task, State>, split: Split, walked: string) {
    const [first, second, third] = game.roles;
    this.#game = game;
    this.#split = split;
    this.#walked = walked;
    if (first === undefined || second === undefined || third !== undefined)
      throw this.refusal(`the roles ${game.roles.join(', ')}`, 'games of two roles');
    if (!Number.isFinite(game.tasks(split).size)) throw this.refusal('endless tasks', 'a finite task set');
    this.roles = [first, second];
  }

  /** The start of each task, walked by `visit`. */
  roots<Node>(visit: (state: State) => Node): Node[] {
    const tasks = this.#game.tasks(this.#split);
    const roots = Array.from({ length: tasks.size }, (_, index) =>
      visit(this.#game.start(tasks.at(index), this.#rng)),
    );
    if (this.#rng.state.join() !== this.#untouched)
      throw this.refusal('chance during the game', 'games with all chance in their tasks');
    return roots;
  }

  actions(state: State, role: Role): readonly string[] {
    const actions = this.#game.actions?.(state, role);
    if (actions === undefined || actions.length === 0)
      throw this.refusal('a state without listed actions', 'games that list their actions');
    return actions;
  }

  /** @param where names the position in the message */
  step(state: State, role: Role, action: string, where: string): Winnings<State> {
    const { state: next, rewards } = this.#game.step(state, role, action, this.#rng);
    const [gain, loss] = this.roles.map((one) => rewards[one] ?? 0) as [number, number];
    if (Math.abs(gain + loss) > 1e-9)
      throw new TurnwiseError('game-not-zero-sum', {
        what: `The rewards of "${this.#game.name}" do not cancel`,
        seen: `${gain} and ${loss} after ${action} in ${where}`,
      });
    return { next, payoff: gain };
  }

  refusal(seen: string, allowed: string): TurnwiseError {
    const what = `The ${this.#walked} of "${this.#game.name}" cannot be walked`;
    return new TurnwiseError('game-not-enumerable', { what, seen, allowed });
  }
}
