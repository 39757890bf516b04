/**
 * A policy that is a table: logits for every state, moved by plain gradient ascent on advantages from the real credit methods.
 *
 * Credit is a matter of numbers, not of language, and a table learns in milliseconds, so that experiments about credit can have
 * many seeds. The environment, the facts it gives, the credit method with its options and shapings, and the weight of every
 * turn are those of training; what is missing is a model that generalises, and clipping (there is one update a batch).
 */

import { Rng } from '../../src/core/rng.ts';
import type { CreditState, CreditTrajectory } from '../../src/credit/report/rollouts.ts';
import { type CreditChoice, composeCredit } from '../../src/credit/shaping/shapings.ts';
import type { Environment } from '../../src/env/environment.ts';
import type { Game } from '../../src/env/game.ts';
import { type Aggregation, tokenWeights } from '../../src/objective/contract/weights.ts';
import type { Outcome } from './experiment.ts';
import { gameOf, play, type Seat, type Table, type Visit } from './tabular-episode.ts';

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
  /** How the turns of an episode share its weight; default: every turn of the batch has the same. */
  readonly aggregation?: Aggregation;
  /** After every episode of one role, take each turn again with another action and play on: credit is told how it ended. */
  readonly counterfactuals?: boolean;
  /** What the figures and the curve are about; default: the share of episodes that succeed. */
  readonly watches?: (trajectories: readonly CreditTrajectory[]) => number;
}

/** Learn; the outcome has the area under the curve of what is watched, its mean over the last fifth, and the curve. */
export function tabularRun(options: TabularOptions): Outcome {
  const { environment, seed, steps, groups = 8, members = 8, learningRate = 0.3 } = options;
  const { tokens = 1, valueRate, remembers = 'state', injected, masksVoidTurns } = options;
  const { aggregation, counterfactuals, watches = successShare } = options;
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
        const table: Table = { rng, logits, remembers };
        for (const seat of play(game, game.start(task, rng), {
          ...table,
          ...(injected && step >= injected.from && rng.next() < injected.rate && { forced: injected.action }),
        })) {
          visits.push(seat.visits);
          const otherwise_K = counterfactuals ? otherOutcomes(game, seat, table) : [];
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
              ...(counterfactuals && { counterfactual: otherwise_K[k]! }),
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
    const weights =
      aggregation &&
      tokenWeights(
        visits.map((list) => new Uint8Array(list.length).fill(1)),
        aggregation,
        Math.max(1, ...visits.map(({ length }) => length)),
      );
    const gradient = new Map<string, Float64Array>();
    for (const [index, list] of visits.entries()) {
      if (
        masksVoidTurns &&
        step >= (injected?.from ?? 0) &&
        trajectories[index]!.turns.some(({ valid }) => valid === false)
      )
        continue;
      const { turnAdvantages_K, returns_T } = credits[index]!;
      for (const [k, { row, action, probabilities }] of list.entries()) {
        const slope = gradient.get(row) ?? new Float64Array(probabilities.length);
        const share = weights?.[index]?.[k] ?? 1 / turns;
        for (const [other, p] of probabilities.entries()) {
          slope[other]! += turnAdvantages_K[k]! * ((other === action ? 1 : 0) - p) * share;
        }
        gradient.set(row, slope);
        const target = returns_T?.[k * tokens];
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
    curve.push(watches(trajectories));
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

function successShare(trajectories: readonly CreditTrajectory[]): number {
  return trajectories.filter(({ success }) => success).length / trajectories.length;
}

/** For each turn the outcome of playing on after another action, any of them with the same chance. */
function otherOutcomes(game: Game, { role, visits, turns }: Seat, table: Table): number[] {
  let before = 0;
  return visits.map(({ state, action }, k) => {
    const others = game.actions!(state, role).filter((_, index) => index !== action);
    const [seat] = play(game, state, { ...table, forced: table.rng.pick(others) });
    const outcome = seat!.turns.reduce((sum, { reward }) => sum + reward, before);
    before += turns[k]!.reward;
    return outcome;
  });
}

/** At most 40 points, for the stored curve. */
function thinned(curve: readonly number[]): number[] {
  const width = Math.ceil(curve.length / 40);
  return Array.from({ length: Math.ceil(curve.length / width) }, (_, index) => {
    const part = curve.slice(index * width, (index + 1) * width);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
