/** The same game against a process: live, since an engine thinks in time and no state of ours holds it. */

import { type Message, user } from '../../src/core/messages.ts';
import type { Environment } from '../../src/env/environment.ts';
import { defineSession } from '../../src/env/live/define-session.ts';
import { AGENT, type Role, type Session, type StepResult } from '../../src/env/session.ts';
import { naturalOpening, type Wording } from '../../src/env/wording.ts';
import type { World } from '../../src/env/world.ts';
import type { ChessEngine, EngineOptions } from './engine.ts';
import { awaitsReply, type ChessState, ownMove, wholeTurn } from './turn.ts';

type Game = Environment<string, ChessState>;

/** Each episode has an engine of its own, which ends with it. */
export function againstEngine(game: Game, options: EngineOptions, wording: Wording): World {
  const { name, description, maxTurns, returns, facts, tasks } = game;
  return defineSession<string>({
    ...{ name, description, maxTurns, tasks },
    ...(returns && { returns }),
    ...(facts && { facts }),
    open: async (task, _rng, startRng, signal) => {
      const { ChessEngine } = await import('./engine.ts');
      const { state, messages } = game.start(task, startRng);
      const natural = wording === 'natural' ? game.natural : undefined;
      const opening = natural
        ? naturalOpening(natural.instructions, natural.example, natural.observe(state))
        : messages;
      return new EngineSession(game, await ChessEngine.start(options, signal), state, opening, natural);
    },
    script(session, kind, rng) {
      if (!(session instanceof EngineSession) || session.toMove() === undefined) return undefined;
      const { state } = session;
      if (kind === 'expert') return game.solve!(state, rng);
      return kind === 'beginner' ? game.stumble!(state, rng) : rng.pick(game.actions!(state));
    },
  });
}

class EngineSession implements Session {
  readonly roles: readonly Role[] = [AGENT];
  state: ChessState;
  readonly #game: Game;
  readonly #engine: ChessEngine;
  readonly #natural: Game['natural'];
  #messages: readonly Message[];
  #isDone = false;

  constructor(
    game: Game,
    engine: ChessEngine,
    state: ChessState,
    opening: readonly Message[],
    natural: Game['natural'],
  ) {
    this.#game = game;
    this.#engine = engine;
    this.state = state;
    this.#messages = opening;
    this.#natural = natural;
  }

  toMove(): Role | undefined {
    return this.#isDone ? undefined : AGENT;
  }

  observe(): readonly Message[] {
    return this.#messages;
  }

  anchor(): string {
    return this.#game.anchor!(this.state);
  }

  actions(): readonly string[] {
    return this.#game.actions!(this.state);
  }

  render(): string {
    return this.#game.render!(this.state);
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    const own = ownMove(this.state, action);
    const reply = awaitsReply(own) ? await this.#engine.bestMove(own.fen, signal) : undefined;
    const step = wholeTurn(this.state, own, reply, this.#game.maxTurns);
    const { reward, done, success = false, valid, info } = step;
    this.state = step.state;
    this.#isDone = done;
    this.#messages = [user(this.#natural?.observe(step.state, step) ?? step.observation)];
    return {
      ...{ rewards: { [AGENT]: reward }, done, success: { [AGENT]: success }, valid },
      ...(info !== undefined && { info }),
    };
  }

  async close(): Promise<void> {
    this.#engine.close();
  }
}
