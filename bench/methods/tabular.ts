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
import type { Outcome } from './experiment.ts';

export interface TabularOptions {
  readonly environment: Environment;
  readonly credit: CreditChoice;
  readonly seed: number;
  readonly steps: number;
  /** Groups of a step, and episodes of a group. */
  readonly groups?: number;
  readonly members?: number;
  readonly learningRate?: number;
  /** What a row of the table is for; default: the anchor of the state. */
  readonly remembers?: 'state' | 'history';
  /** A critic: a table of values, moved towards the returns that the credit method asks for. */
  readonly valueRate?: number;
  /** Tokens that a turn counts for, for methods that discount tokens. */
  readonly tokens?: number;
  readonly entropyCoefficient?: number;
}

interface Visit {
  readonly row: string;
  readonly action: number;
  readonly probabilities: readonly number[];
}

/** Learn; the outcome has the area under the curve of success, success over the last fifth, and the curve. */
export function tabularRun(options: TabularOptions): Outcome {
  const { environment, seed, steps, groups = 8, members = 8, learningRate = 0.3 } = options;
  const { tokens = 1, valueRate, entropyCoefficient = 0, remembers = 'state' } = options;
  const { credit } = composeCredit(options.credit);
  const logits = new Map<string, Float64Array>();
  const values = new Map<string, number>();
  const tasks = environment.tasks('train');
  let state: CreditState = {};
  const curve: number[] = [];
  for (let step = 0; step < steps; step++) {
    const rng = Rng.of('tabular', seed, step);
    const visits: Visit[][] = [];
    const trajectories: CreditTrajectory[] = [];
    for (let group = 0; group < groups; group++) {
      const task = tasks.at(rng.int(Number.isFinite(tasks.size) ? tasks.size : 1_000_000));
      for (let member = 0; member < members; member++) {
        const played = play(environment, task, { rng, logits, remembers });
        visits.push(played.visits);
        trajectories.push({
          id: `${group}/${member}`,
          groupId: String(group),
          role: 'agent',
          outcome: played.outcome,
          success: played.success,
          ...played.facts,
          turns: played.turns.map((turn, k) => ({
            ...turn,
            tokens,
            ...(valueRate !== undefined && {
              values: new Array<number>(tokens).fill(values.get(played.visits[k]!.row) ?? 0),
            }),
          })),
        });
      }
    }
    const { credits, state: next } = credit(trajectories, state);
    state = next;
    const turns = visits.reduce((sum, list) => sum + list.length, 0);
    const gradient = new Map<string, Float64Array>();
    for (const [index, list] of visits.entries()) {
      const { turnAdvantages_K, returns_K_T } = credits[index]!;
      for (const [k, { row, action, probabilities }] of list.entries()) {
        const slope = gradient.get(row) ?? new Float64Array(probabilities.length);
        const entropy = -probabilities.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0);
        for (const [other, p] of probabilities.entries()) {
          slope[other]! += (turnAdvantages_K[k]! * ((other === action ? 1 : 0) - p)) / turns;
          if (p > 0) slope[other]! -= (entropyCoefficient * p * (Math.log(p) + entropy)) / turns;
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
    curve.push(trajectories.filter(({ success }) => success).length / trajectories.length);
  }
  const mean = (numbers: readonly number[]): number =>
    numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
  return {
    figures: { area: mean(curve), final: mean(curve.slice(-Math.ceil(steps / 5))) },
    curve: thinned(curve),
  };
}

interface Table {
  readonly rng: Rng;
  readonly logits: Map<string, Float64Array>;
  readonly remembers: 'state' | 'history';
}

function play(environment: Environment, task: never | unknown, { rng, logits, remembers }: Table) {
  let { state } = environment.start(task as never, rng);
  const visits: Visit[] = [];
  const turns: CreditTurn[] = [];
  let facts: Partial<CreditTrajectory> = {};
  let outcome = 0;
  let history = '';
  for (;;) {
    const anchor = environment.anchor!(state);
    history = `${history}/${anchor}`;
    const row = remembers === 'history' ? history : anchor;
    const actions = environment.actions!(state);
    const table = logits.get(row) ?? new Float64Array(actions.length);
    logits.set(row, table);
    const probabilities = softmax(table);
    const action = draw(probabilities, rng);
    visits.push({ row, action, probabilities });
    const result = environment.step(state, actions[action]!, rng);
    const { turn, trajectory } = factsOf(result.info, 'A turn of the table');
    facts = { ...facts, ...trajectory };
    turns.push({ reward: result.reward, tokens: 1, anchor, valid: result.valid, ...turn });
    outcome += result.reward;
    state = result.state;
    if (result.done || turns.length === environment.maxTurns)
      return { visits, turns, facts, outcome, success: result.success ?? false };
  }
}

export function softmax(logits: Float64Array): number[] {
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
