/** Turn controls: how many turns an episode has, and what comes after each of them. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import type { Call, EpisodeKey, Role, Transition } from '../../core/episode.ts';
import { keyParts } from '../../core/episode-key.ts';
import type { Json } from '../../core/json/json.ts';
import { isMessage, type Message } from '../../core/messages.ts';
import {
  type At,
  type Defined,
  defineRemembering,
  type Now,
  type Remembering,
  type Remembers,
} from '../../core/remembers.ts';
import { Rng } from '../../core/rng.ts';
import type { StopReason } from '../../core/stop.ts';

/** An episode after a turn. */
export interface TurnView {
  /** Whose turn it was. */
  readonly role: Role;
  readonly task: Json;
  /** So far; of a branch, those of its role before it, and then its own. */
  readonly calls: readonly Call[];
  readonly transitions: readonly Transition[];
  /** Turns that the role has taken: acts, those included that its context answered. */
  readonly turn: number;
  readonly limit: number;
}

/**
 * What comes next: the episode goes on; it goes on and the role reads a message next; the task is opened again in the same
 * conversation, after a message; or the episode stops.
 */
export type TurnDecision =
  | 'go on'
  | { readonly say: Message }
  | { readonly retry: Message }
  | { readonly stop: StopReason };

export interface TurnControl<O extends object, M extends Json> extends Remembers<O, M> {
  /** Whether `after` may retry. Refused for recipes that branch, and for agents: their own code begins the task. */
  readonly retries?: true;
  /** A field of `info.credit` that it reads, such as `mode`. Refused where neither the environment nor the context gives it. */
  readonly reads?: string;
  /**
   * Whether it changes what roles read or write: then scripted demonstrations are played under it, too, so that a small model
   * imitates what it will be asked. Controls that retry do so anyway.
   */
  readonly demonstrated?: true;
  /**
   * What it may say, so that a small model knows the words, whether a demonstration comes to them or not.
   *
   * @param longest the most turns that an episode may have
   */
  says?(options: O, longest: number): readonly string[];
  /**
   * What scripted players write in place of an act that they come to, such as a request for more turns beside it. An act that would
   * read as another one is left as it is. Default: the act.
   */
  script?(text: string, view: TurnView, at: At<O, M>): string;
  /**
   * Turns that each role of the episode has. `usual` is `rollout.maxTurns`, or the limit of the environment; in a part of a mix at
   * most that part's own. Default: `usual`.
   */
  limit?(task: Json, at: At<O, M> & { readonly usual: number }): number;
  /** The most turns that `limit` ever gives: a new model has room for them. Default: `usual`. */
  longest?(options: O, usual: number): number;
  /**
   * Asked after every turn that the environment took, of an agent when it makes its next call or comes to its end. `done`: the environment, or the agent,
   * ended the episode; `success`: of the role. Default: it goes on.
   */
  after?(view: TurnView, at: At<O, M> & { readonly done: boolean; readonly success: boolean }): TurnDecision;
}

/** What `defineTurns` returns. */
export interface DefinedTurns extends Defined<'turns', Turns> {
  readonly retries: boolean;
  readonly reads?: string;
}

/** A turn control with its options. */
export interface Turns extends Remembering {
  /** Whether demonstrations are played under it. */
  readonly demonstrated: boolean;
  /** What it may say in a run with this usual limit. */
  says(usual: number): readonly string[];
  readonly script?: (text: string, view: TurnView, now: Now) => string;
  limit(task: Json, now: Now & { readonly usual: number }): number;
  /** The most turns that it may give. */
  longest(usual: number): number;
  readonly after?: (
    view: TurnView,
    now: Now & { readonly done: boolean; readonly success: boolean },
  ) => TurnDecision;
}

/**
 * Define a turn control: a limit for each episode, and a decision after each turn. It controls episodes that are learned
 * from; evaluations have the usual limit, unless `evaluation.turnControl` is set. A `limit` or an `after` that fails ends its
 * episode as `failed:policy`.
 *
 * @example
 * // "Try again" after a wrong answer (UFO, arXiv 2507.14295).
 * export const again = defineTurns({
 *   name: 'again',
 *   summary: 'the same task until it is solved',
 *   options: z.strictObject({ attempts: z.int().min(1).default(5).describe('Turns of an episode') }),
 *   retries: true,
 *   limit: (_task, { options }) => options.attempts,
 *   longest: ({ attempts }) => attempts,
 *   says: () => ['Try again.'],
 *   after: (_view, { done, success }) => (done && !success ? { retry: user('Try again.') } : 'go on'),
 * });
 *
 * Use it with `--set turns=./again.ts --set turns.attempts=3`, or in code with `settings: { turns: { name: again, attempts: 3 } }`.
 */
export function defineTurns<O extends object = Record<never, never>, M extends Json = null>(
  definition: TurnControl<O, M>,
): DefinedTurns {
  const { retries = false, reads } = definition;
  const demonstrated = definition.demonstrated ?? retries;
  const defined = defineRemembering(
    'turns',
    definition,
    ({ at, subject, options }): Omit<Turns, keyof Remembering> => {
      const longest = (usual: number): number =>
        checkedLimit(
          callDefinition(subject, () => definition.longest?.(options, usual) ?? usual),
          subject,
        );
      return {
        demonstrated,
        says: (usual) => callDefinition(subject, () => definition.says?.(options, longest(usual))) ?? [],
        longest,
        ...(definition.script && {
          script: (text, view, now) =>
            checkedScript(
              callDefinition(subject, () => definition.script?.(text, view, at(now))),
              subject,
            ),
        }),
        limit: (task, { usual, ...now }) =>
          checkedLimit(
            callDefinition(subject, () => definition.limit?.(task, { ...at(now), usual }) ?? usual),
            subject,
          ),
        ...(definition.after && {
          after: (view, { done, success, ...now }) => {
            const decision = callDefinition(subject, () =>
              definition.after?.(view, { ...at(now), done, success }),
            );
            return checkedDecision(decision, retries, subject);
          },
        }),
      };
    },
  );
  return { ...defined, retries, ...(reads !== undefined && { reads }) };
}

function checkedScript(text: unknown, subject: string): string {
  if (typeof text === 'string') return text;
  throw badDefinition(subject, 'has a script that wrote no text', text, 'the text of an act');
}

/** Why a control may end an episode: none of them is a failure. */
const REASONS: readonly StopReason[] = [
  'done',
  'turn-limit',
  'token-limit',
  'context-overflow',
  'invalid-action',
  'early-stop',
];

function checkedLimit(limit: number, subject: string): number {
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw badDefinition(subject, 'gave a limit that is no number of turns', limit, 'a whole number from 1');
}

function checkedDecision(decision: unknown, retries: boolean, subject: string): TurnDecision {
  if (decision === 'go on') return decision;
  const { say, retry, stop } = (typeof decision === 'object' && decision !== null ? decision : {}) as Record<
    string,
    unknown
  >;
  if (isMessage(say)) return { say };
  if (isMessage(retry)) {
    if (retries) return { retry };
    throw badDefinition(subject, 'retries and does not say so', decision, 'retries: true in its definition');
  }
  const reason = REASONS.find((known) => known === stop);
  if (reason !== undefined) return { stop: reason };
  throw badDefinition(
    subject,
    'made no decision that there is',
    decision,
    `'go on', { say: message }, { retry: message } or { stop: reason }, one of ${REASONS.join(', ')}`,
  );
}

/** A turn control in a step of a run. */
export interface TurnRules {
  /** What a scripted player writes in place of this act. */
  readonly script?: (key: EpisodeKey, view: TurnView, text: string) => string;
  /** @param most the limit of the environment, where it is not that of the run: in a part of a mix */
  limit(key: EpisodeKey, task: Json, most?: number): number;
  /** Undefined where nothing is ever decided. */
  readonly after?: (
    key: EpisodeKey,
    view: TurnView,
    ended: { readonly done: boolean; readonly success: boolean },
  ) => TurnDecision;
}

/** @param usual the limit of the settings or of the environment */
export function turnRules(
  turns: Turns,
  {
    step,
    memory,
    seed,
    usual,
  }: { readonly step: number; readonly memory: Json; readonly seed: string | number; readonly usual: number },
): TurnRules {
  const { after, script } = turns;
  const now = (key: EpisodeKey, ...at: readonly number[]): Now => ({
    step,
    memory,
    rng: Rng.of('turns', seed, ...keyParts(key), ...at),
  });
  return {
    limit: (key, task, most = usual) => turns.limit(task, { ...now(key), usual: Math.min(usual, most) }),
    ...(script && { script: (key, view, text) => script(text, view, now(key, view.transitions.length)) }),
    ...(after && {
      after: (key, view, ended) => after(view, { ...now(key, view.transitions.length), ...ended }),
    }),
  };
}

/** The control as demonstrations are played under it; undefined where it changes nothing of what is read or written. */
export function demonstratedRules(
  turns: Turns,
  at: { readonly seed: string | number; readonly usual: number },
): TurnRules | undefined {
  return turns.demonstrated ? turnRules(turns, { step: 1, memory: turns.start(), ...at }) : undefined;
}
