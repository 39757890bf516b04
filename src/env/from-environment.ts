/** A pure environment as a world: sessions over its reducer, with snapshots, anchors and scripted players for free. */

import { canonicalJson, type Json, type JsonObject } from '../core/json/json.ts';
import type { JsonCompatible } from '../core/json/json-compatible.ts';
import { type Message, user } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import {
  checkMessages,
  checkReward,
  checkState,
  checkStep,
  episodeOver,
  noSnapshot,
  readHeld,
} from './checks.ts';
import type { Environment, NaturalWording } from './environment.ts';
import type { ActionProtocol } from './protocol.ts';
import { rawProtocol } from './raw-protocol.ts';
import { AGENT, type Role, type Session, type Snapshot, type StepResult } from './session.ts';
import { spacedTagProtocol, tagProtocol } from './tag-protocol.ts';
import { readerOf } from './tasks/tasks.ts';
import { naturalOpening, type Wording } from './wording.ts';
import type { PlayerKind, World } from './world.ts';

/** Where an episode is. A type alias, since interfaces are not assignable to `Json`. */
type Present<State> = {
  readonly state: State;
  readonly messages: readonly Message[];
  readonly done: boolean;
  readonly steps: number;
};

/** An episode of a pure environment. The same task, random stream and actions give the same episode. */
export class EnvironmentSession<State = Json> implements Session {
  readonly roles: readonly Role[] = [AGENT];
  readonly #environment: Environment<Json, State>;
  readonly #natural: NaturalWording<State> | undefined;
  /** Each step draws from a stream of its own, so that what one uses up never shifts the next. */
  readonly #chance: Rng;
  #steps: number;
  #state: State;
  #messages: readonly Message[];
  #done: boolean;

  /** @param natural what words the states, in place of the environment's own observations */
  constructor(
    environment: Environment<Json, State>,
    rng: Rng,
    present: Present<State>,
    natural?: NaturalWording<State>,
  ) {
    this.#environment = environment;
    this.#natural = natural;
    this.#chance = rng;
    this.#state = present.state;
    this.#messages = present.messages;
    this.#done = present.done;
    this.#steps = present.steps;
  }

  get state(): State {
    return this.#state;
  }

  toMove(): Role | undefined {
    return this.#done ? undefined : AGENT;
  }

  /** The opening, then the last observation, then the closing words. Asking twice gives the same answer. */
  observe(_role: Role): readonly Message[] {
    return this.#messages;
  }

  anchor(_role: Role): string {
    return this.#environment.anchor?.(this.#state) ?? canonicalJson(this.#state as Json);
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    signal.throwIfAborted();
    const name = this.#environment.name;
    if (this.#done) throw episodeOver(name);
    const next = checkStep(name, this.#environment.step(this.#state, action, this.#chance.at(this.#steps)));
    const reward = checkReward(name, next.reward);
    const state = checkState(name, next.state);
    const said = this.#natural?.observe(state, next) ?? next.observation;
    this.#messages = checkMessages(name, next.done && said === '' ? [] : [user(said)]);
    this.#state = state;
    this.#done = next.done;
    this.#steps++;
    return {
      rewards: { [AGENT]: reward },
      done: next.done,
      success: { [AGENT]: next.success ?? false },
      valid: next.valid,
      ...(next.metrics === undefined ? {} : { metrics: next.metrics }),
      ...(next.info === undefined ? {} : { info: next.info }),
    };
  }

  async snapshot(): Promise<Snapshot> {
    const environment = this.#environment;
    const natural = this.#natural;
    const chance = this.#chance;
    const present: Present<State> = {
      state: this.#state,
      messages: this.#messages,
      done: this.#done,
      steps: this.#steps,
    };
    return {
      cost: 'free',
      open: async (options) =>
        new EnvironmentSession(environment, options?.chance ?? chance, present, natural),
      toJson: () => ({ ...(present as unknown as JsonObject), chance: chance.state }),
      dispose: async () => {},
    };
  }

  actions(): readonly string[] | undefined {
    return this.#done ? undefined : this.#environment.actions?.(this.#state);
  }

  notes(_role: Role): string | undefined {
    return this.#environment.notes?.(this.#state);
  }

  slots(_role: Role): Readonly<Record<string, string>> | undefined {
    return this.#environment.slots?.(this.#state);
  }

  render(): string {
    return this.#environment.render?.(this.#state) ?? canonicalJson(this.#state as Json);
  }

  async close(): Promise<void> {}
}

export interface FromEnvironmentOptions {
  /** Default: the raw text, trimmed; tags where the environment corrects thoughts. */
  readonly protocol?: ActionProtocol;
  /** Default: compact. An environment without a natural wording has the one that it has. */
  readonly wording?: Wording;
}

/**
 * The world of a pure environment.
 *
 * Raises `state-not-json`, `reward-not-finite`, `observation-too-long` and `observation-not-text` where the author's
 * code breaks its contract; the session then stays in the state it was in. Its states are frozen.
 */
export function fromEnvironment<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  environment: Environment<Task, State>,
  options: FromEnvironmentOptions = {},
): World {
  const natural = options.wording === 'natural' ? environment.natural : undefined;
  const thoughtful = natural ? tagProtocol : spacedTagProtocol;
  const protocol = options.protocol ?? (environment.correctThought ? thoughtful : rawProtocol);
  return {
    name: environment.name,
    description: environment.description,
    roles: [AGENT],
    maxTurns: environment.maxTurns,
    pure: true,
    snapshots: 'free',
    environment: environment as unknown as Environment,
    ...(environment.returns && { returns: environment.returns }),
    ...(environment.facts && { facts: environment.facts }),
    protocol,
    tasks: readerOf(environment),
    ...(environment.truth && {
      truth: (task) => inForm(environment.truth!(task as Task), protocol),
    }),
    ...(environment.guidance && {
      guidance: (task: Json, level: number) => environment.guidance!(task as Task, level),
    }),
    ...(environment.scoreGroup && { scoreGroup: environment.scoreGroup }),
    async open(task, rng, startRng = rng.fork('start')) {
      const start = environment.start(task as Task, startRng);
      const state = checkState(environment.name, start.state);
      const messages = natural ? opening(natural, protocol, state) : start.messages;
      return new EnvironmentSession(
        environment as unknown as Environment<Json, State>,
        rng,
        { state, messages: checkMessages(environment.name, messages), done: false, steps: 0 },
        natural,
      );
    },
    async reopen(held) {
      const { state, steps, chance, rest } = readHeld(environment.name, held);
      const { messages, done } = rest;
      if (!Array.isArray(messages) || typeof done !== 'boolean') throw noSnapshot(environment.name, held);
      return new EnvironmentSession(
        environment as unknown as Environment<Json, State>,
        chance,
        {
          state: checkState(environment.name, state as State),
          messages: checkMessages(environment.name, messages as unknown as readonly Message[]),
          ...{ done, steps },
        },
        natural,
      );
    },
    ...((environment.solve ?? environment.stumble ?? environment.actions) && {
      script(session, kind, rng) {
        if (!(session instanceof EnvironmentSession) || session.toMove() === undefined) return undefined;
        return play(environment, session.state as State, kind, rng);
      },
    }),
    ...(environment.correctThought && {
      correctThought({ session, thought, rng }) {
        if (!(session instanceof EnvironmentSession)) return thought;
        return environment.correctThought?.(session.state as State, thought, rng) ?? thought;
      },
    }),
  };
}

/** Actions as the policy would write them. */
function inForm(actions: string | readonly string[], protocol: ActionProtocol): string | readonly string[] {
  return typeof actions === 'string' ? protocol.format(actions) : actions.map(protocol.format);
}

function opening<State>(
  natural: NaturalWording<State>,
  protocol: ActionProtocol,
  state: State,
): readonly Message[] {
  const { instructions, example } = natural;
  const written = example.map(([read, action]) => [read, protocol.format(action)] as const);
  const form = protocol.instructions === undefined ? [] : [protocol.instructions];
  return naturalOpening([instructions, ...form].join('\n\n'), written, natural.observe(state));
}

function play<Task, State>(
  environment: Environment<Task, State>,
  state: State,
  kind: PlayerKind,
  rng: Rng,
): string | undefined {
  if (kind === 'expert') return environment.solve?.(state, rng);
  if (kind === 'beginner') return environment.stumble?.(state, rng) ?? environment.solve?.(state, rng);
  const actions = environment.actions?.(state);
  return actions === undefined ? undefined : rng.pick(actions);
}
