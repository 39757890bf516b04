/**
 * Several responses to one task, and what is said about them in between: the game that is common to answer-and-feedback, to a second
 * answer and to deliberation. A response is one whole playing of the wrapped environment, from the same start.
 */

import { canonicalJson, type Json } from '../../core/json/json.ts';
import { type Message, user } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import type { Environment, Step } from '../environment.ts';
import type { Game, GameStep } from '../game.ts';
import type { Role } from '../session.ts';
import { naturalOpening } from '../wording.ts';
import { anchorOf, openingOf } from './lifted.ts';

/** What happens in turn: a role responds to the task, or says whether the last response was good. */
export interface Stage {
  readonly role: Role;
  readonly does: 'respond' | 'review';
}

/** A type alias, since interfaces are not assignable to `Json`. */
export type Responses<State> = {
  readonly start: State;
  readonly now: State;
  /** What is read at the start, and now, in the compact and in the natural wording. */
  readonly opening: readonly [compact: string, natural: string];
  readonly said: readonly [compact: string, natural: string];
  /** Which stage is under way, and its turns so far; past the last stage it is over. */
  readonly stage: number;
  readonly turn: number;
  /** Actions of the response under way, and of the one before. */
  readonly actions: readonly string[];
  readonly last: readonly string[];
  /** Responses so far, and whether the last of them solved the task. */
  readonly responses: number;
  readonly solved: boolean;
  /** What the last review said. */
  readonly review: string;
};

export interface ResponsesOptions {
  readonly name: string;
  readonly description: string;
  readonly roles: readonly Role[];
  readonly stages: readonly Stage[];
  /** Whether the rewards of every response are paid, or only those of the last. */
  readonly pays: 'each' | 'last';
  /** Whether a review that finds nothing wrong ends the episode. */
  readonly endsWhenGood: boolean;
  /** Whether each role succeeds by its own response, or all of them by the last. */
  readonly succeeds: 'own' | 'last';
  /** What a role is told of its part, for models that read. */
  readonly parts: Readonly<Record<Role, string>>;
}

/** More actions than this are not offered as advice. */
const MOST_ADVICE = 64;

/** The game of responses. @throws nothing by itself: what the environment throws is its own */
export function responses<Task, State>(
  inner: Environment<Task, State>,
  { stages, ...options }: ResponsesOptions,
): Game<Task, Responses<State>> {
  type Own = Responses<State>;
  const stageOf = ({ stage }: Own): Stage | undefined => stages[stage];
  const isLastResponse = (stage: number): boolean =>
    !stages.slice(stage + 1).some(({ does }) => does === 'respond');
  const count = (role: Role, does: Stage['does']): number =>
    stages.filter((stage) => stage.role === role && stage.does === does).length;
  const most = Math.max(
    ...options.roles.map((role) => count(role, 'respond') * inner.maxTurns + count(role, 'review')),
  );
  const paid = options.pays === 'last' ? 1 : Math.max(...options.roles.map((role) => count(role, 'respond')));

  /** `good`, or `bad` with the first action of a better response. */
  const reviews = ({ start }: Own): readonly string[] => {
    const advice = inner.actions?.(start) ?? [];
    return ['good', 'bad', ...(advice.length <= MOST_ADVICE ? advice.map((action) => `bad ${action}`) : [])];
  };
  const isReview = (action: string): boolean => /^(good|bad)( .+)?$/.test(action);

  const told = (state: Own, wording: 0 | 1): string => {
    const does = stageOf(state)?.does;
    if (does === undefined) return wording === 0 ? `over ${state.said[0]}`.trim() : state.said[1];
    if (does === 'respond' && state.turn > 0) return state.said[wording];
    const { opening, responses: before, last, review } = state;
    if (before === 0) return opening[wording];
    const tried = last.join(' ');
    if (wording === 0)
      return does === 'review'
        ? `${opening[0]} tried ${tried}`
        : `${opening[0]} tried ${tried}${review === '' ? '' : ` review ${review}`}`;
    const response = `A response to this was: ${last.join(', ')}.`;
    if (does === 'review') return `${opening[1]} ${response} Was it good?`;
    return `${opening[1]} ${response}${review === '' ? '' : ` Its review says: ${review}.`} Respond now.`;
  };
  /** Whether the role has not acted before the present turn. */
  const isFirstTurn = ({ stage, turn }: Own, role: Role): boolean =>
    turn === 0 && stages.slice(0, stage).every((before) => before.role !== role);

  const respond = (before: Own, { role }: Stage, action: string, rng: Rng): GameStep<Own> => {
    const step: Step<State> = inner.step(before.now, action, rng);
    const turn = before.turn + 1;
    // What is no action costs a turn, and what the environment says, and leads nowhere.
    const ends = step.valid && (step.done || turn >= inner.maxTurns);
    const solved = ends && step.done && step.success === true;
    const last = isLastResponse(before.stage);
    const actions = step.valid ? [...before.actions, action] : before.actions;
    const under: Own = {
      ...before,
      now: step.valid ? step.state : before.now,
      said: [step.observation, inner.natural?.observe(step.state, step) ?? step.observation],
      ...{ actions, turn },
    };
    const after: Own = ends
      ? {
          ...under,
          // A further response begins where the first did.
          now: last ? under.now : before.start,
          ...{ last: actions, actions: [], stage: before.stage + 1, turn: 0, solved },
          responses: before.responses + 1,
        }
      : under;
    const pays = options.pays === 'each' || last;
    return {
      state: after,
      rewards: pays ? { [role]: step.reward } : {},
      done: ends && stageOf(after) === undefined,
      success: success(role, after, ends),
      valid: step.valid,
      ...(step.metrics && { metrics: step.metrics }),
      info: { credit: { ...creditOf(step.info), response: before.responses } },
    };
  };

  const success = (role: Role, { solved }: Own, ends: boolean): Readonly<Record<Role, boolean>> => {
    if (!ends) return {};
    return options.succeeds === 'own'
      ? { [role]: solved }
      : Object.fromEntries(options.roles.map((one) => [one, solved]));
  };

  const review = (before: Own, action: string): GameStep<Own> => {
    const valid = isReview(action);
    const isGood = valid && action.startsWith('good');
    const credit = { wellFormed: valid, labelCorrect: valid && isGood === before.solved };
    const stage = isGood && options.endsWhenGood ? stages.length : before.stage + 1;
    const after: Own = valid ? { ...before, stage, turn: 0, review: action } : before;
    const done = stageOf(after) === undefined;
    return {
      state: after,
      rewards: {},
      done,
      success: done ? success(stages[before.stage]!.role, before, true) : {},
      valid,
      info: { credit },
    };
  };

  const mover = (state: Own): Role | undefined => stageOf(state)?.role;
  const { natural } = inner;
  return {
    name: options.name,
    description: options.description,
    roles: options.roles,
    maxTurns: most,
    ...(inner.returns && {
      returns: [
        Math.min(0, paid * inner.returns[0], inner.returns[0]),
        Math.max(0, paid * inner.returns[1], inner.returns[1]),
      ] as const,
    }),
    facts: [...new Set([...(inner.facts ?? []), 'response', 'labelCorrect', 'wellFormed'])],
    tasks: (split) => inner.tasks(split),
    start(task, rng) {
      const { state, messages } = inner.start(task, rng);
      const opening = openingOf(messages);
      const both = [opening, natural?.observe(state) ?? opening] as const;
      return {
        ...{ start: state, now: state, opening: both, said: both },
        ...{ stage: 0, turn: 0, actions: [], last: [], responses: 0, solved: false, review: '' },
      };
    },
    toMove: mover,
    observe: (state) => [user(told(state, 0))],
    step: (state, _role, action, rng) => {
      const stage = stageOf(state)!;
      return stage.does === 'respond' ? respond(state, stage, action, rng) : review(state, action);
    },
    anchor: ({ stage, last, review: said, now }) =>
      `${canonicalJson([stage, said, [...last]])} ${anchorOf(inner as Environment<never, State>, now)}`,
    ...(inner.actions && {
      actions: (state: Own) =>
        stageOf(state)?.does === 'review'
          ? reviews(state)
          : stageOf(state) === undefined
            ? []
            : inner.actions!(state.now),
    }),
    ...(inner.solve && {
      solve: (state: Own, _role: Role, rng: Rng) => {
        if (stageOf(state)?.does !== 'review') return inner.solve!(state.now, rng);
        if (state.solved) return 'good';
        const advice = `bad ${inner.solve!(state.start, rng)}`;
        return reviews(state).includes(advice) ? advice : 'bad';
      },
      // A beginner errs at first, and then takes the advice that it was given.
      stumble: (state: Own, _role: Role, rng: Rng) => {
        if (stageOf(state)?.does === 'review') return rng.pick(reviews(state));
        const [, advice] = /^bad (.+)$/.exec(state.review) ?? [];
        if (advice !== undefined && state.actions.length === 0) return advice;
        return (
          inner.stumble?.(state.now, rng) ??
          rng.pick(inner.actions?.(state.now) ?? [inner.solve!(state.now, rng)])
        );
      },
    }),
    ...(inner.render && { render: (state: Own) => inner.render!(state.now) }),
    ...(natural && {
      natural: (state: Own, role: Role): readonly Message[] => {
        const text = told(state, 1);
        if (mover(state) !== role || !isFirstTurn(state, role)) return [user(text)];
        const part = options.parts[role] ?? '';
        return naturalOpening(`${natural.instructions} ${part}`.trim(), natural.example, text);
      },
    }),
  };
}

/** The facts for credit in what a step says of itself. */
function creditOf(info: Json | undefined): Readonly<Record<string, Json>> {
  const isObject = (value: unknown): value is Readonly<Record<string, Json>> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject(info) && isObject(info.credit) ? info.credit : {};
}
