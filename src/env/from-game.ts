/** A pure game as a world: sessions over its reducer for several roles, with snapshots and scripted players for free. */

import { TurnwiseError } from '../core/errors.ts';
import { canonicalJson, type Json } from '../core/json/json.ts';
import type { JsonCompatible } from '../core/json/json-compatible.ts';
import type { Message } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import { checkMessages, checkReward, checkState, checkStep, episodeOver, readHeld } from './checks.ts';
import type { Game } from './game.ts';
import type { ActionProtocol } from './protocol.ts';
import { rawProtocol } from './raw-protocol.ts';
import type { Role, Session, Snapshot, StepResult } from './session.ts';
import { readerOf } from './tasks/tasks.ts';
import type { Wording } from './wording.ts';
import type { PlayerKind, World } from './world.ts';

/** An episode of a pure game. The same task, random stream and actions give the same episode. */
export class GameSession<State = Json> implements Session {
  readonly roles: readonly Role[];
  readonly #game: Game<Json, State>;
  /** Each step draws from a stream of its own, so that what one uses up never shifts the next. */
  readonly #chance: Rng;
  #steps: number;
  #state: State;

  constructor(game: Game<Json, State>, rng: Rng, state: State, steps = 0) {
    this.roles = game.roles;
    this.#game = game;
    this.#chance = rng;
    this.#steps = steps;
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  toMove(): Role | undefined {
    return this.#game.toMove(this.#state);
  }

  observe(role: Role): readonly Message[] {
    return checkMessages(this.#game.name, this.#game.observe(this.#state, role));
  }

  anchor(role: Role): string {
    return this.#game.anchor(this.#state, role);
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    signal.throwIfAborted();
    const name = this.#game.name;
    const mover = this.toMove();
    if (mover === undefined) throw episodeOver(name);
    const next = checkStep(name, this.#game.step(this.#state, mover, action, this.#chance.at(this.#steps)));
    for (const [role, reward] of Object.entries(next.rewards)) {
      if (!this.roles.includes(role)) throw unknownRole(name, role, this.roles);
      checkReward(name, reward, role);
    }
    this.#state = checkState(name, next.state);
    this.#steps++;
    return {
      rewards: next.rewards,
      done: next.done,
      success: next.success ?? {},
      valid: next.valid,
      ...(next.metrics === undefined ? {} : { metrics: next.metrics }),
      ...(next.info === undefined ? {} : { info: next.info }),
    };
  }

  async snapshot(): Promise<Snapshot> {
    const game = this.#game;
    const chance = this.#chance;
    const state = this.#state;
    const steps = this.#steps;
    return {
      cost: 'free',
      open: async (options) => new GameSession(game, options?.chance ?? chance, state, steps),
      toJson: () => ({ state: state as Json, steps, chance: chance.state }),
      dispose: async () => {},
    };
  }

  actions(): readonly string[] | undefined {
    const role = this.toMove();
    return role === undefined ? undefined : this.#game.actions?.(this.#state, role);
  }

  render(): string {
    return this.#game.render?.(this.#state) ?? canonicalJson(this.#state as Json);
  }

  async close(): Promise<void> {}
}

export interface FromGameOptions {
  /** Default: the raw text, trimmed. */
  readonly protocol?: ActionProtocol;
  /** Default: compact. A game without a natural wording has the one that it has. */
  readonly wording?: Wording;
}

/**
 * The world of a pure game.
 *
 * Raises `state-not-json`, `reward-not-finite`, `unknown-role` and `observation-too-long` where the author's code
 * breaks its contract; the session then stays in the state it was in. Its states are frozen.
 */
export function fromGame<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  game: Game<Task, State>,
  options: FromGameOptions = {},
): World {
  return worldOf(options.wording === 'natural' ? inNaturalWords(game) : game, options);
}

/** The same game, which is observed in its natural wording, where it has one. */
function inNaturalWords<Task, State>(game: Game<Task, State>): Game<Task, State> {
  if (game.natural === undefined) return game;
  const observe: Game<Task, State>['observe'] = (state, role) => game.natural!(state, role);
  return Object.create(game, { observe: { value: observe } }) as Game<Task, State>;
}

function worldOf<Task, State>(game: Game<Task, State>, options: FromGameOptions): World {
  return {
    name: game.name,
    description: game.description,
    roles: game.roles,
    maxTurns: game.maxTurns,
    pure: true,
    snapshots: 'free',
    ...(game.returns && { returns: game.returns }),
    ...(game.facts && { facts: game.facts }),
    game: game as unknown as Game,
    protocol: options.protocol ?? rawProtocol,
    tasks: readerOf(game),
    ...(game.scoreGroup && { scoreGroup: game.scoreGroup }),
    async open(task, rng, startRng = rng.fork('start')) {
      return new GameSession(
        game as unknown as Game<Json, State>,
        rng,
        checkState(game.name, game.start(task as Task, startRng)),
      );
    },
    async reopen(held) {
      const { state, steps, chance } = readHeld(game.name, held);
      const own = checkState(game.name, state as State);
      return new GameSession(game as unknown as Game<Json, State>, chance, own, steps);
    },
    script(session, kind, rng) {
      if (!(session instanceof GameSession)) return undefined;
      const role = session.toMove();
      return role === undefined ? undefined : play(game, session.state as State, role, kind, rng);
    },
  };
}

function play<Task, State>(
  game: Game<Task, State>,
  state: State,
  role: Role,
  kind: PlayerKind,
  rng: Rng,
): string | undefined {
  if (kind === 'expert') return game.solve?.(state, role, rng);
  if (kind === 'beginner') return game.stumble?.(state, role, rng) ?? game.solve?.(state, role, rng);
  const actions = game.actions?.(state, role);
  return actions === undefined ? undefined : rng.pick(actions);
}

function unknownRole(name: string, role: Role, roles: readonly Role[]): TurnwiseError {
  return new TurnwiseError('unknown-role', {
    what: `"${name}" rewarded a role it does not have`,
    seen: `"${role}"`,
    allowed: roles.map((known) => `"${known}"`).join(', '),
    fields: { environment: name, role },
  });
}
