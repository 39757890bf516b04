/** Worlds whose task is opened again within an episode, and what their sessions have in common. */

import type { Message } from 'turnwise';
import {
  defineWorld,
  type Role,
  type Session,
  type StepResult,
  type World,
  type WorldFactory,
} from 'turnwise/env';

export abstract class AgainSession implements Session {
  readonly roles: readonly Role[];
  /** The present attempt. */
  inner: Session;
  readonly #open: () => Promise<Session>;

  constructor(inner: Session, open: () => Promise<Session>) {
    this.roles = inner.roles;
    this.inner = inner;
    this.#open = open;
  }

  toMove(): Role | undefined {
    return this.inner.toMove();
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  abstract observe(role: Role): readonly Message[];
  abstract anchor(role: Role): string;
  abstract step(action: string, signal: AbortSignal): Promise<StepResult>;

  protected async openAgain(): Promise<void> {
    await this.inner.close();
    this.inner = await this.#open();
  }
}

type Script = NonNullable<World['script']>;

interface Again<Own extends AgainSession> {
  readonly name: string;
  /** What is added to the description of the world. */
  readonly about: string;
  readonly attempts: number;
  readonly session: new (inner: Session, open: () => Promise<Session>) => Own;
  /** Without one the script of the world plays the present attempt. */
  readonly script?: (
    session: Own,
    plain: Script,
    ...rest: DropFirst<Parameters<Script>>
  ) => ReturnType<Script>;
}

type DropFirst<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Rest]
  ? Rest
  : never;

/** The world with `attempts` at each task in one episode. Its sessions are live, and its answers nobody knows. */
export function openedAgain<Own extends AgainSession>(
  plain: WorldFactory,
  { name, about, attempts, session: Own, script }: Again<Own>,
): WorldFactory {
  const description = `${plain.description} ${about}`;
  return defineWorld({
    name,
    description,
    options: plain.options,
    ...(plain.settings && { settings: plain.settings }),
    create: (options) => {
      const { snapshots: _, truth: __, script: usual, ...world } = plain.create(options);
      return {
        ...{ ...world, name, description },
        maxTurns: attempts * world.maxTurns,
        open: async (task, rng, startRng, signal) => {
          const open = () => world.open(task, rng, startRng, signal);
          return new Own(await open(), open);
        },
        script: (session, ...rest) => {
          if (!(session instanceof Own) || usual === undefined) return undefined;
          return script === undefined ? usual(session.inner, ...rest) : script(session, usual, ...rest);
        },
      };
    },
  });
}
