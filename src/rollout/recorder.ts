/** Writes the record of an episode while it is played: calls, transitions, what each role earned. */

import type {
  Author,
  ByRole,
  Call,
  Episode,
  EpisodeKey,
  Place,
  Role,
  Sampling,
  Transition,
} from '../core/episode.ts';
import { canonicalJson, type Json } from '../core/json/json.ts';
import type { Message, ToolDeclaration } from '../core/messages.ts';
import type { StopReason } from '../core/stop.ts';
import { RecordStore } from './record/record-store.ts';

/** The prefix that a branch shares with the episode that it goes on from. */
export interface Prefix {
  readonly place: Place;
  /** Calls up to there. */
  readonly calls: number;
  readonly outcome: ByRole<number>;
}

export class Recorder {
  readonly #key: EpisodeKey;
  readonly #task: Json;
  readonly #prefix: Prefix | undefined;
  readonly #calls: Call[] = [];
  readonly #transitions: Transition[] = [];
  readonly #tools: Record<string, readonly ToolDeclaration[]> = {};
  /** Keys of declarations, by what they declare. */
  readonly #declared: Map<string, string> = new Map();
  readonly #outcome: Record<Role, number>;
  readonly #success: Record<Role, boolean>;
  readonly #seats: Record<Role, { player: string; version: number }>;
  #sampling: { readonly from: object; readonly limited: Sampling } | undefined;
  readonly #began: number = performance.now();
  /** Of its calls and transitions. */
  readonly store: RecordStore = new RecordStore();
  /** In a world of worlds: the name of the one that is played. */
  part: string | undefined;

  constructor(
    key: EpisodeKey,
    task: Json,
    roles: readonly Role[],
    playerOf: (role: Role) => Author,
    prefix?: Prefix,
  ) {
    this.#key = key;
    this.#task = task;
    this.#prefix = prefix;
    this.#outcome = Object.fromEntries(roles.map((role) => [role, prefix?.outcome[role] ?? 0]));
    this.#success = Object.fromEntries(roles.map((role) => [role, false]));
    this.#seats = Object.fromEntries(
      roles.map((role) => {
        const { name, version } = playerOf(role);
        return [role, { player: name, version }];
      }),
    );
  }

  /** Milliseconds since the episode's start. */
  now(): number {
    return tenths(performance.now() - this.#began);
  }

  /** The id of the next call. */
  get nextCall(): number {
    return (this.#prefix?.calls ?? 0) + this.#calls.length;
  }

  /** How many transitions there are so far, without those of the prefix. */
  get transitions(): number {
    return this.#transitions.length;
  }

  /** The number of the next transition, counted through the prefix. */
  get nextTransition(): number {
    return (this.#prefix === undefined ? 0 : this.#prefix.place.transition + 1) + this.transitions;
  }

  /** Sampling of at most so many tokens: mostly that of the call before, and then the same object. */
  limited(sampling: Omit<Sampling, 'maxTokens'>, maxTokens: number): Sampling {
    if (this.#sampling?.from !== sampling || this.#sampling.limited.maxTokens !== maxTokens)
      this.#sampling = { from: sampling, limited: { ...sampling, maxTokens } };
    return this.#sampling.limited;
  }

  call(call: Call): void {
    this.#calls.push(call);
  }

  /** The key of these declarations. Calls of a branch have keys of their own. */
  declare(tools: readonly ToolDeclaration[]): string {
    const text = canonicalJson(tools as unknown as Json);
    const key = this.#declared.get(text) ?? `tools-${this.nextCall}`;
    this.#declared.set(text, key);
    this.#tools[key] = tools;
    return key;
  }

  /** @param success who succeeded, where the episode is over */
  transition(transition: Transition, success?: ByRole<boolean>): void {
    this.#transitions.push(transition);
    for (const [role, reward] of Object.entries(transition.rewards)) {
      if (role in this.#outcome) this.#outcome[role]! += reward;
    }
    if (success) for (const role of Object.keys(this.#success)) this.#success[role] = success[role] ?? false;
  }

  /** The task was opened again: nobody has succeeded yet. */
  reopened(): void {
    for (const role of Object.keys(this.#success)) this.#success[role] = false;
  }

  /** What a branch that goes on from here shares. */
  prefix(): Prefix {
    return {
      place: { episode: this.#key, transition: this.nextTransition - 1 },
      calls: this.nextCall,
      outcome: { ...this.#outcome },
    };
  }

  /** The record as it would be if the episode stopped now; what comes later does not change it. */
  soFar(): Episode {
    const episode = this.finish('early-stop');
    return {
      ...episode,
      calls: [...episode.calls],
      transitions: [...episode.transitions],
      outcome: { ...episode.outcome },
      success: { ...episode.success },
    };
  }

  finish(stop: StopReason, failure?: string, closing?: ByRole<readonly Message[]>): Episode {
    return {
      key: this.#key,
      task: this.#task,
      ...(this.part !== undefined && { part: this.part }),
      calls: this.#calls,
      transitions: this.#transitions,
      tools: this.#tools,
      seats: this.#seats,
      outcome: this.#outcome,
      success: this.#success,
      stop,
      ...(this.#prefix && { branchedFrom: { ...this.#prefix.place, calls: this.#prefix.calls } }),
      ...(closing && { closing }),
      ...(failure === undefined ? {} : { failure }),
    };
  }
}

export const tenths = (ms: number): number => Math.round(ms * 10) / 10;
