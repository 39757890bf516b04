/** The turns of one episode: what its control decides after each, attempts at its task, and the prefix that it copies. */

import type { Call, Episode, EpisodeKey, Role } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import type { Message } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import { isTrainable, type StopReason } from '../../core/stop.ts';
import type { Chain } from '../../core/trajectory.ts';
import type { WorldPart } from '../../env/mix/part.ts';
import { EpisodeEnd } from '../boundary.ts';
import { ChanceInTurn } from '../chance-in-turn.ts';
import { GuardedSession, type GuardOptions, type OpenRequest } from '../guard/guarded-session.ts';
import type { Seat } from '../kept-place.ts';
import { type CopiedPrefix, chanceKeyAt, keyAt } from './copied-prefix.ts';
import { chanceOf, openingOf } from './opening.ts';
import { endOf, type Replay } from './replay.ts';
import type { TurnDecision, TurnRules } from './turn-control.ts';
import { controlledLimit } from './turn-limit.ts';

export interface EpisodeTurnsOptions {
  readonly key: EpisodeKey;
  /** Names its random streams in place of its own key. */
  readonly drawsAs?: EpisodeKey;
  readonly task: Json;
  readonly seed: string | number;
  /** Turns that each role has in the whole world. */
  readonly limit: number;
  readonly rules?: TurnRules;
  readonly copied?: CopiedPrefix;
  /** The same where it is a stored episode that is played again. */
  readonly replayed?: Replay;
  /** What its roles did before, where it is a branch. */
  readonly before?: readonly Pick<Seat, 'role' | 'thread'>[];
  /** What the first to act reads besides, where the episode begins anew. */
  readonly say?: readonly Message[];
}

/** What a role reads besides what the environment shows it: before that, and after it. */
export interface Said {
  readonly before: readonly Message[];
  readonly after: readonly Message[];
}

export const nothingSaid: Said = { before: [], after: [] };

/** What comes after a turn: why the episode stops, or the session in which it goes on and what its role reads next. */
export type AfterTurn =
  | { readonly stop: StopReason }
  | { readonly session: GuardedSession; readonly said: Said };

export class EpisodeTurns {
  /** At the task, from 0. */
  attempt = 0;
  /** Turns that each role has. */
  limit: number;
  readonly #options: EpisodeTurnsOptions;
  /** Of a session without snapshots whose chance changes. */
  #inTurn: ChanceInTurn | undefined;

  constructor(options: EpisodeTurnsOptions) {
    this.#options = options;
    this.limit = options.limit;
  }

  /** Its session from the start. */
  open(guard: GuardOptions): Promise<GuardedSession> {
    return GuardedSession.open(this.#opening(0), guard);
  }

  /**
   * The episode is played in this part of a mix, which has its own usual limit.
   *
   * @throws EpisodeEnd
   */
  playedIn({ maxTurns }: WorldPart): void {
    const { key, rules, task, limit } = this.#options;
    this.limit = Math.min(limit, controlledLimit(rules, key, task, maxTurns) ?? maxTurns);
  }

  /** What the role was shown before the next act of the prefix, from a call on, or before the first act after it in a record. */
  shown(call: number, transition: number): readonly Message[] | undefined {
    const { copied, replayed } = this.#options;
    const again = copied?.calls.slice(call).find(({ purpose }) => purpose === 'act')?.messages;
    return again ?? (transition === copied?.transitions.length ? replayed?.next?.messages : undefined);
  }

  /** What the environment shows and what is said besides. A task opened again does not repeat the system's words. */
  withSaid(observed: readonly Message[], { before, after }: Said): readonly Message[] {
    if (before.length + after.length === 0) return observed;
    const rest = before.length > 0 ? observed.filter(({ role }) => role !== 'system') : observed;
    return [...before, ...rest, ...after];
  }

  /**
   * What a scripted player writes in place of an act, where the control has a say in it.
   *
   * @throws TurnwiseError of the control's code
   */
  written(
    text: string,
    { role, turns }: { readonly role: Role; readonly turns: number },
    soFar: () => Episode,
  ): string {
    const { key, rules, task } = this.#options;
    if (!rules?.script) return text;
    return rules.script(
      key,
      { role, task, ...this.#done(role, soFar()), turn: turns, limit: this.limit },
      text,
    );
  }

  /** Whether the control has a say in what scripted players write. */
  get writes(): boolean {
    return this.#options.rules?.script !== undefined;
  }

  /** What roles read before their first turns. */
  get opening(): Said {
    const { copied, replayed, say = [] } = this.#options;
    return copied && !replayed && copied.transitions.length > 0 ? nothingSaid : { before: [], after: say };
  }

  /**
   * After a turn of `role`.
   *
   * @param soFar the record as it is
   * @throws EpisodeEnd
   */
  async after(
    { role, turns }: { readonly role: Role; readonly turns: number },
    soFar: () => Episode,
    session: GuardedSession,
    guard: GuardOptions,
  ): Promise<AfterTurn> {
    const { rules, copied, replayed, say = [] } = this.#options;
    if (!rules?.after && !copied) return { session, said: nothingSaid };
    const episode = soFar();
    const count = episode.transitions.length;
    const left = (copied?.transitions.length ?? 0) - count;
    if (copied && left >= 0) this.#requireSame(copied, episode, guard);
    if (replayed?.end && left <= 0) return this.#ended(replayed, episode, session);
    const recorded = left > 0 ? copied?.transitions[count] : left === 0 ? replayed?.next : undefined;
    if (recorded) {
      const again = (recorded.attempt ?? 0) > this.attempt;
      const next = again ? this.#anew(session, guard, count) : this.#withChanceAt(count, session, guard);
      return { session: await next, said: nothingSaid };
    }
    const decision = this.#decide(role, turns, episode, session);
    const besides = copied && !replayed && left === 0 ? say : [];
    if (decision === 'go on' || 'say' in decision) {
      const own = copied ? await this.#withChanceAt(count, session, guard) : session;
      const said = decision === 'go on' ? besides : [decision.say, ...besides];
      return { session: own, said: { before: [], after: said } };
    }
    if ('stop' in decision) return decision;
    // With no turn left, another attempt would only take its success from this one.
    if (turns >= this.limit) return { session, said: nothingSaid };
    const anew = await this.#anew(session, guard, count);
    return { session: anew, said: { before: [decision.retry], after: besides } };
  }

  /** After the last transition of a record that is played to its end, or after one that it does not have. */
  #ended({ calls, end }: Replay, episode: Episode, session: GuardedSession): AfterTurn {
    // It went on to a call that led to no transition.
    if (episode.calls.length < calls.length) return { session, said: nothingSaid };
    if (!isTrainable(end!.stop)) throw endOf(end!);
    const goesOn = session.toMove() !== undefined;
    return { stop: end!.stop === 'done' && goesOn ? 'early-stop' : end!.stop };
  }

  #decide(role: Role, turn: number, episode: Episode, session: GuardedSession): TurnDecision {
    const { key, rules, task, replayed } = this.#options;
    const { limit } = this;
    if (!rules?.after) return 'go on';
    const own = {
      calls: episode.calls.slice(replayed?.shared.calls ?? 0),
      transitions: episode.transitions.slice(replayed?.shared.transitions ?? 0),
    };
    const done = session.toMove() === undefined;
    const success = done && episode.success[role] === true;
    try {
      return rules.after(key, { role, task, ...this.#done(role, own), turn, limit }, { done, success });
    } catch (error) {
      // Code of users that fails ends its episode.
      if (!TurnwiseError.isInstance(error)) throw error;
      throw new EpisodeEnd('failed:policy', error.message, error);
    }
  }

  /** Calls and transitions so far. */
  #done(role: Role, { calls, transitions }: Chain): Chain {
    const before = this.#options.before?.find((seat) => seat.role === role)?.thread;
    if (before === undefined) return { calls, transitions };
    return {
      calls: [...before.calls.toArray(), ...calls],
      transitions: [...before.transitions.toArray(), ...transitions],
    };
  }

  /** The task opened again. */
  async #anew(session: GuardedSession, guard: GuardOptions, transition: number): Promise<GuardedSession> {
    this.attempt++;
    await session.close();
    return GuardedSession.open(this.#opening(transition), guard);
  }

  /** The start is always that of the first group; chance is of the episode that plays the transition. */
  #opening(transition: number): OpenRequest {
    const { task, seed, copied } = this.#options;
    const first = copied?.places[0]?.episode ?? this.keyAt(0);
    const rng = this.#chanceAt(transition);
    const changes = copied?.places.some(({ chance }) => chance === 'fresh');
    this.#inTurn = changes ? new ChanceInTurn(rng) : undefined;
    return { ...openingOf(task, first, seed), rng: this.#inTurn ?? rng };
  }

  /** Chance from a transition on, where a part ends before it: that of whoever played on, where a session can change it. */
  async #withChanceAt(
    transition: number,
    session: GuardedSession,
    guard: GuardOptions,
  ): Promise<GuardedSession> {
    const end = this.#options.copied?.places.find((place) => place.transition === transition - 1);
    if (!end || end.chance === 'same' || session.toMove() === undefined) return session;
    const chance = this.#chanceAt(transition);
    if (!session.hasSnapshots) {
      if (end.chance === 'fresh') this.#inTurn?.goOnWith(chance);
      return session;
    }
    const snapshot = await session.snapshot();
    try {
      return await GuardedSession.reopen(snapshot, chance, guard);
    } finally {
      await guard.boundary.quietly(`letting go of ${guard.place}`, guard.timeoutMs, () => snapshot.dispose());
      await session.close();
    }
  }

  #chanceAt(transition: number): Rng {
    const { key, drawsAs = key, copied, seed } = this.#options;
    const whose = copied ? chanceKeyAt(copied, transition, drawsAs) : drawsAs;
    return chanceOf(whose, seed, this.attempt);
  }

  /** The episode that plays the transition. */
  keyAt(transition: number): EpisodeKey {
    const { key, drawsAs = key, copied } = this.#options;
    return copied ? keyAt(copied, transition, drawsAs) : drawsAs;
  }

  /**
   * The state of a context is not stored: it comes back where the context builds the prompts of the prefix as it did before.
   *
   * @throws EpisodeEnd
   */
  requireSamePrompt({ id, purpose, kept, context }: Call, subject: string): void {
    const { copied, replayed } = this.#options;
    const before = copied?.calls[id];
    if (before === undefined || replayed?.anyPrompt) return;
    const isSame =
      before.purpose === purpose &&
      before.kept === kept &&
      before.context.length === context.length &&
      before.context.every((token, index) => token === context[index]);
    if (isSame) return;
    throw new EpisodeEnd(
      'failed:policy',
      `starting ${keyText(this.#options.key)} at a place of an earlier step: ${subject} built another prompt for call ${id} ("${before.purpose}") than it did there, so its state cannot be had again; it may read a clock, Math.random(), a variable outside its state, or \`limit\``,
    );
  }

  #requireSame(copied: CopiedPrefix, episode: Episode, { world, place }: GuardOptions): void {
    const index = episode.transitions.length - 1;
    const [done, before] = [episode.transitions[index]!, copied.transitions[index]!];
    if (done.anchor === before.anchor && done.action === before.action) return;
    throw new EpisodeEnd(
      'failed:environment',
      `starting ${place} at a place of an earlier step: "${world.name}" says that it is pure, and the same task, chance and actions led it to another state`,
    );
  }
}
