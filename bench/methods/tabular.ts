/**
 * A policy that is a table: logits for every state, moved by plain gradient ascent on advantages from the real credit methods.
 *
 * Credit is a matter of numbers, not of language, and a table learns in milliseconds, so that experiments about credit can have
 * many seeds. The environment, the facts it gives, the credit method with its options and shapings, and the weight of every
 * turn are those of training; what is missing is a model that generalises, and clipping (there is one update a batch).
 */

import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/facts.ts';
import type { CreditState, CreditTrajectory, CreditTurn } from '../../src/credit/rollouts.ts';
import { type CreditChoice, composeCredit } from '../../src/credit/shaping/shapings.ts';
import type { Environment } from '../../src/env/environment.ts';
import type { Game } from '../../src/env/game.ts';
import { AGENT, type Role } from '../../src/env/session.ts';
import type { Outcome } from './experiment.ts';

export interface TabularOptions {
  readonly environment: Environment | Game;
  readonly credit: CreditChoice;
  readonly seed: number;
  readonly steps: number;
  /** Groups of a step, and episodes of a group. */
  readonly groups?: number;
  readonly members?: number;
  readonly learningRate?: number;
  /** What a row of the table is for: the anchor of the state, or all anchors so far. */
  readonly remembers?: 'state' | 'history';
  /** A critic: a table of values, moved by this share towards the returns that the credit method asks for. */
  readonly valueRate?: number;
  /** Tokens that a turn counts for, for methods that discount tokens. */
  readonly tokens?: number;
  /** Share of episodes in which, from the step on, one turn is replaced by this action, whatever the policy would do. */
  readonly injected?: { readonly action: string; readonly rate: number; readonly from: number };
  /** From then on, leave episodes with a turn that the environment did not accept out of the gradient. */
  readonly masksVoidTurns?: boolean;
}

interface Visit {
  readonly row: string;
  readonly action: number;
  readonly probabilities: readonly number[];
}

/** Learn; the outcome has the area under the curve of success, success over the last fifth, and the curve. */
export function tabularRun(options: TabularOptions): Outcome {
  const { environment, seed, steps, groups = 8, members = 8, learningRate = 0.3 } = options;
  const { tokens = 1, valueRate, remembers = 'state', injected, masksVoidTurns } = options;
  const game = gameOf(environment);
  const { credit } = composeCredit(options.credit);
  const logits = new Map<string, Float64Array>();
  const values = new Map<string, number>();
  const tasks = game.tasks('train');
  let state: CreditState = {};
  const curve: number[] = [];
  const norms: number[] = [];
  for (let step = 0; step < steps; step++) {
    const rng = Rng.of('tabular', seed, step);
    const visits: Visit[][] = [];
    const trajectories: CreditTrajectory[] = [];
    for (let group = 0; group < groups; group++) {
      const task = tasks.at(rng.int(Number.isFinite(tasks.size) ? tasks.size : 1_000_000));
      for (let member = 0; member < members; member++) {
        for (const seat of play(game, task, {
          rng,
          logits,
          remembers,
          ...(injected && step >= injected.from && rng.next() < injected.rate && { forced: injected.action }),
        })) {
          visits.push(seat.visits);
          const suffix = game.roles.length > 1 ? `/${seat.role}` : '';
          trajectories.push({
            id: `${group}/${member}${suffix}`,
            groupId: `${group}${suffix}`,
            episode: `${group}/${member}`,
            role: seat.role,
            outcome: seat.turns.reduce((sum, { reward }) => sum + reward, 0),
            success: seat.success,
            ...seat.facts,
            turns: seat.turns.map((turn, k) => ({
              ...turn,
              tokens,
              ...(valueRate !== undefined && {
                values: new Array<number>(tokens).fill(values.get(seat.visits[k]!.row) ?? 0),
              }),
            })),
          });
        }
      }
    }
    const { credits, state: next } = credit(trajectories, state);
    state = next;
    const turns = visits.reduce((sum, list) => sum + list.length, 0);
    const gradient = new Map<string, Float64Array>();
    for (const [index, list] of visits.entries()) {
      if (
        masksVoidTurns &&
        step >= (injected?.from ?? 0) &&
        trajectories[index]!.turns.some(({ valid }) => valid === false)
      )
        continue;
      const { turnAdvantages_K, returns_K_T } = credits[index]!;
      for (const [k, { row, action, probabilities }] of list.entries()) {
        const slope = gradient.get(row) ?? new Float64Array(probabilities.length);
        for (const [other, p] of probabilities.entries()) {
          slope[other]! += (turnAdvantages_K[k]! * ((other === action ? 1 : 0) - p)) / turns;
        }
        gradient.set(row, slope);
        const target = returns_K_T?.[k]?.[0];
        if (valueRate !== undefined && target !== undefined) {
          const before = values.get(row) ?? 0;
          values.set(row, before + valueRate * (target - before));
        }
      }
    }
    // The gradient is averaged over turns; the rate makes up for the number of states that share it.
    for (const [row, slope] of gradient) {
      const table = logits.get(row)!;
      for (const [action, change] of slope.entries()) table[action]! += learningRate * logits.size * change;
    }
    if (injected && step >= injected.from) {
      const slopes = [...gradient.values()].flatMap((slope) => [...slope]);
      norms.push(Math.sqrt(slopes.reduce((sum, change) => sum + change ** 2, 0)));
    }
    curve.push(trajectories.filter(({ success }) => success).length / trajectories.length);
  }
  const mean = (numbers: readonly number[]): number =>
    numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
  return {
    figures: {
      ...(injected && { peak: Math.max(...norms) }),
      area: mean(curve),
      final: mean(curve.slice(-Math.ceil(steps / 5))),
    },
    curve: thinned(curve),
  };
}

interface Table {
  readonly rng: Rng;
  readonly logits: Map<string, Float64Array>;
  readonly remembers: 'state' | 'history';
  /** Takes the place of the first action. */
  readonly forced?: string;
}

interface Seat {
  readonly role: Role;
  readonly visits: Visit[];
  readonly turns: CreditTurn[];
  facts: Partial<CreditTrajectory>;
  success: boolean;
}

function play(game: Game, task: unknown, { rng, logits, remembers, forced }: Table): Seat[] {
  let state = game.start(task as never, rng);
  const seats = new Map<Role, Seat>(
    game.roles.map((role) => [role, { role, visits: [], turns: [], facts: {}, success: false }]),
  );
  for (let role = game.toMove(state); role !== undefined; role = game.toMove(state)) {
    const seat = seats.get(role)!;
    if (seat.turns.length === game.maxTurns) break;
    const anchor = game.anchor(state, role);
    const before = remembers === 'history' ? (seat.visits.at(-1)?.row ?? '') : '';
    const row = game.roles.length > 1 && before === '' ? `${role}: ${anchor}` : `${before}/${anchor}`;
    const actions = game.actions!(state, role);
    const table = logits.get(row) ?? new Float64Array(actions.length);
    logits.set(row, table);
    const probabilities = softmax(table);
    const drawn = draw(probabilities, rng);
    const action = forced !== undefined && seat.turns.length === 0 ? actions.indexOf(forced) : drawn;
    seat.visits.push({ row, action, probabilities });
    const result = game.step(state, role, actions[action]!, rng);
    const { turn, trajectory } = factsOf(result.info, 'A turn of the table');
    seat.facts = { ...seat.facts, ...trajectory };
    seat.turns.push({ reward: 0, tokens: 1, anchor, valid: result.valid, ...turn });
    for (const other of seats.values()) {
      // A reward belongs to the role's latest turn, as in a rollout.
      const last = other.turns.pop();
      if (last) other.turns.push({ ...last, reward: last.reward + (result.rewards[other.role] ?? 0) });
      if (result.done) other.success = result.success?.[other.role] ?? false;
    }
    state = result.state;
    if (result.done) break;
  }
  return [...seats.values()];
}

/** An environment is a game of one role. */
function gameOf(environment: Environment | Game): Game {
  if ('toMove' in environment) return environment;
  return {
    name: environment.name,
    description: environment.description,
    roles: [AGENT],
    maxTurns: environment.maxTurns,
    tasks: (split) => environment.tasks(split),
    start: (task, rng) => environment.start(task, rng).state,
    toMove: () => AGENT,
    observe: () => [],
    step: (state, _role, action, rng) => {
      const { reward, success = false, ...rest } = environment.step(state, action, rng);
      return { ...rest, rewards: { [AGENT]: reward }, success: { [AGENT]: success } };
    },
    anchor: (state) => environment.anchor!(state),
    actions: (state) => environment.actions!(state),
  };
}

function softmax(logits: Float64Array): number[] {
  const highest = Math.max(...logits);
  const weights = Array.from(logits, (logit) => Math.exp(logit - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

function draw(probabilities: readonly number[], rng: Rng): number {
  let left = rng.next();
  for (const [index, p] of probabilities.entries()) {
    left -= p;
    if (left < 0) return index;
  }
  return probabilities.length - 1;
}

/** At most 40 points, for the stored curve. */
function thinned(curve: readonly number[]): number[] {
  const width = Math.ceil(curve.length / 40);
  return Array.from({ length: Math.ceil(curve.length / width) }, (_, index) => {
    const part = curve.slice(index * width, (index + 1) * width);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
