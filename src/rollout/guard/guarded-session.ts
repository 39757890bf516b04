/**
 * A session behind its boundary: whatever its author's code does, each call gives back what it may, checked and copied, or
 * throws an `EpisodeEnd` that names the call. Sessions that arrive after their deadline are closed when they come.
 */

import { MOST_CHOICES } from '../../core/choices.ts';
import type { Json } from '../../core/json/json.ts';
import type { Message } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import { isThenable } from '../../core/safe-text.ts';
import { checkedPart, type WorldPart } from '../../env/mix/part.ts';
import type { ParsedAction } from '../../env/protocol.ts';
import {
  type CheckedStep,
  checkedActions,
  checkedMessages,
  checkedParse,
  checkedRole,
  checkedSession,
  checkedSnapshot,
  checkedStep,
  checkedText,
} from '../../env/replies.ts';
import type { Role, Session, Snapshot } from '../../env/session.ts';
import type { PlayerKind, ThoughtToCorrect, World } from '../../env/world.ts';
import type { Boundary } from '../boundary.ts';
import { madeBy } from './made.ts';

export interface GuardOptions {
  readonly world: World;
  /** Of the episode that the session serves. */
  readonly boundary: Boundary;
  /** Longest that opening, a step, a snapshot, a script and closing may each take. */
  readonly timeoutMs: number;
  /** Names the episode and its turn in messages. */
  readonly place: string;
}

export interface OpenRequest {
  readonly task: Json;
  readonly rng: Rng;
  readonly startRng?: Rng;
}

/** All that may be written, or why it may be anything. */
export type LegalCompletions = { readonly texts: readonly string[] } | { readonly free: string };

export class GuardedSession {
  /** The author's own, for those who must have it: policies that follow scripts. Calls to it are not guarded. */
  readonly inner: Session;
  /** Whether snapshots of it can be taken. */
  readonly hasSnapshots: boolean;
  /** In a world of worlds: the one that the episode is played in. */
  readonly part: WorldPart | undefined;
  /** Names the episode and its turn in messages. */
  place: string;
  readonly #world: World;
  readonly #boundary: Boundary;
  readonly #timeoutMs: number;
  readonly #roles: readonly Role[];
  #closed = false;

  private constructor(
    inner: Session,
    hasSnapshots: boolean,
    { world, boundary, timeoutMs, place }: GuardOptions,
  ) {
    this.inner = inner;
    this.hasSnapshots = hasSnapshots;
    this.part = checkedPart(inner.part);
    this.place = place;
    this.#world = world;
    this.#boundary = boundary;
    this.#timeoutMs = timeoutMs;
    this.#roles = world.roles;
  }

  /** @throws EpisodeEnd, as all methods but `close` */
  static open({ task, rng, startRng }: OpenRequest, options: GuardOptions): Promise<GuardedSession> {
    const { world } = options;
    return GuardedSession.#made(`opening ${world.name}`, 'open()', options, (signal) =>
      world.open(task, rng, startRng, signal),
    );
  }

  /** A session that goes on from a snapshot: with the chance of its origin, or with another. */
  static reopen(snapshot: Snapshot, chance: Rng | undefined, options: GuardOptions): Promise<GuardedSession> {
    return GuardedSession.#made(`going on in ${options.place}`, 'snapshot.open()', options, () =>
      snapshot.open(chance && { chance }),
    );
  }

  /** Who acts now; undefined when the episode is over. */
  toMove(): Role | undefined {
    return this.#call('asking for the mover of', () => checkedRole(this.inner.toMove(), this.#roles));
  }

  observe(role: Role): readonly Message[] {
    return this.#call('observing', () => checkedMessages(this.inner.observe(role)));
  }

  anchor(role: Role): string {
    return this.#call('naming the state of', () => checkedText('anchor()', this.inner.anchor(role)));
  }

  /** Find the action in what the policy wrote. */
  parse(text: string): ParsedAction {
    return this.#call('reading the action of', () => checkedParse(this.#protocol.parse(text)));
  }

  /** What stands before the action; undefined where the protocol does not tell thoughts from actions. */
  thought(text: string): string | undefined {
    return this.#call('reading the thought of', () => {
      const protocol = this.#protocol;
      return protocol.thought && checkedText('protocol.thought()', protocol.thought(text));
    });
  }

  /**
   * Every completion that says a legal action, where they can be listed; or why they cannot, as where words stand before an
   * action or may be an answer.
   */
  completions(): LegalCompletions {
    return this.#call('listing the actions of', (): LegalCompletions => {
      const protocol = this.#protocol;
      if (protocol.thought) return { free: 'words stand before an action' };
      if (protocol.answers) return { free: 'an act may be an answer in words' };
      const actions = checkedActions(this.inner.actions?.());
      if (actions === undefined) return { free: 'the environment does not list its legal actions' };
      if (actions.length > MOST_CHOICES)
        return { free: `${actions.length} actions are legal, and at most ${MOST_CHOICES} can be listed` };
      return {
        texts: actions.map((action) => checkedText('protocol.format()', protocol.format(action))),
      };
    });
  }

  step(action: string): Promise<CheckedStep> {
    return this.#step(
      'stepping',
      (signal) => this.inner.step(action, signal),
      (result) => checkedStep(result, this.#world.name, this.#roles),
    );
  }

  /** The present place, held; its calls are not guarded. Sessions without snapshots end the episode. */
  snapshot(): Promise<Snapshot> {
    return madeBy(
      `keeping ${this.place}`,
      { boundary: this.#boundary, timeoutMs: this.#timeoutMs },
      () => this.inner.snapshot?.(),
      checkedSnapshot,
      (made) => (made as Partial<Snapshot>).dispose?.(),
    );
  }

  /** A picture of the state for people, where there is one. */
  render(): string | undefined {
    return this.#call('drawing', () => {
      const picture: unknown = this.inner.render?.();
      return picture === undefined ? undefined : checkedText('render()', picture);
    });
  }

  /** What a scripted player does now; undefined where there is no such player. */
  script(kind: PlayerKind, rng: Rng): Promise<string | undefined> {
    return this.#step(
      'asking the script in',
      () => this.#world.script?.(this.inner, kind, rng),
      (action) => (action === undefined ? undefined : checkedText('script()', action)),
    );
  }

  /** The thought that is right there; `thought` where the world corrects none. */
  correctThought(turn: Omit<ThoughtToCorrect, 'session'>): Promise<string> {
    return this.#step(
      'correcting the thought in',
      () => this.#world.correctThought?.({ ...turn, session: this.inner }) ?? turn.thought,
      (thought) => checkedText('correctThought()', thought),
    );
  }

  /** Waits for the author's `close`, at most as long as for a step. Never throws; a second call does nothing. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#boundary.quietly(`closing ${this.place}`, this.#timeoutMs, () => this.inner.close());
  }

  get #protocol(): World['protocol'] {
    return (this.part ?? this.#world).protocol;
  }

  #call<T>(doing: string, work: () => T): T {
    return this.#boundary.call('environment', `${doing} ${this.place}`, work);
  }

  async #step<T>(
    doing: string,
    work: (signal: AbortSignal) => unknown,
    check: (value: unknown) => T,
  ): Promise<T> {
    const what = `${doing} ${this.place}`;
    // In a box, since promises read `then` of what they are given, and that may throw outside the boundary.
    const boxed = (signal: AbortSignal): Boxed | PromiseLike<Boxed> => {
      const value = work(signal);
      return isThenable(value) ? Promise.resolve(value).then(boxOf) : { value };
    };
    const box = await this.#boundary.step('environment', what, this.#timeoutMs, boxed, false);
    return this.#boundary.call('environment', what, () => check(box.value));
  }

  static #made(
    what: string,
    call: string,
    options: GuardOptions,
    make: (signal: AbortSignal) => unknown,
  ): Promise<GuardedSession> {
    const guarded = (made: unknown): GuardedSession => {
      const inner = checkedSession(call, made);
      return new GuardedSession(inner, typeof inner.snapshot === 'function', options);
    };
    return madeBy(what, options, make, guarded, (made) => (made as Partial<Session>).close?.());
  }
}

interface Boxed {
  readonly value: unknown;
}

const boxOf = (value: unknown): Boxed => ({ value });
