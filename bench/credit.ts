/**
 * What credit costs: every method on 4,096 trajectories of 50 turns, in groups of 8. A turn has one sampled token, as in
 * most environments here; methods that give every token an advantage of its own are measured with 8 as well, without a
 * target, since their cost is that of the tokens.
 */

import { Rng } from '../src/core/rng.ts';
import { quantile } from '../src/core/statistics.ts';
import type { CreditMethod } from '../src/credit/method.ts';
import { creditMethods } from '../src/credit/methods.ts';
import type { CreditTrajectory, CreditTurn, ToolCall } from '../src/credit/rollouts.ts';

export interface CreditFigure {
  readonly medianMs: number;
  /** Processor time of the median run, garbage collection included: what is left of it when the machine is busy. */
  readonly processorMs: number;
  readonly slowestMs: number;
  /** For the median: 1 s for methods that assign calls to calls, 100 ms for all others. */
  readonly targetMs?: number;
  readonly reached?: boolean;
}

const TRAJECTORIES = 4096;
const GROUP = 8;
const TURNS = 50;
const GOLDEN_CALLS = 8;
const REPEATS = 7;

/** Settings that are measured besides the defaults, for methods whose cost depends on them. */
const variants: Readonly<Record<string, readonly object[]>> = {
  matchtir: [{ matching: 'greedy' }, { matching: 'transport' }],
  arpo: [{ attribution: 'hard' }],
  reinforce: [{ baseline: 'batch' }],
};

export function benchCredit(): Record<string, CreditFigure> {
  const figures: Record<string, CreditFigure> = {};
  const oneToken = syntheticBatch(1);
  for (const method of creditMethods) {
    const targetMs = method.name === 'matchtir' ? 1000 : 100;
    for (const options of [{}, ...(variants[method.name] ?? [])]) {
      const figure = measure(method, options, oneToken);
      const name = [method.name, ...Object.values(options)].join(' ');
      figures[name] = { ...figure, targetMs, reached: figure.medianMs <= targetMs };
    }
  }
  const eightTokens = syntheticBatch(8);
  for (const method of creditMethods.filter(({ level }) => level === 'token')) {
    figures[`${method.name}, 8 tokens a turn`] = measure(method, {}, eightTokens);
  }
  return figures;
}

function measure(
  method: CreditMethod,
  options: object,
  trajectories: readonly CreditTrajectory[],
): CreditFigure {
  const { credit } = method.create(options);
  const milliseconds: number[] = [];
  const processor: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const started = performance.now();
    const before = process.cpuUsage();
    credit(trajectories, {});
    milliseconds.push(performance.now() - started);
    const { user, system } = process.cpuUsage(before);
    processor.push((user + system) / 1000);
  }
  const round = (figure: number): number => Math.round(10 * figure) / 10;
  return {
    medianMs: round(quantile(milliseconds, 0.5)),
    processorMs: round(quantile(processor, 0.5)),
    slowestMs: round(Math.max(...milliseconds)),
  };
}

/** States repeat inside a group, every second rollout branched from another, and every turn but the last calls a tool. */
function syntheticBatch(tokens: number): CreditTrajectory[] {
  const rng = Rng.of('bench', 'credit');
  const noise = () => rng.next();
  const call = (number: number): ToolCall => ({
    name: `tool ${number % 5}`,
    arguments: { a: number % 3, b: `value ${number % 7}` },
  });
  return Array.from({ length: TRAJECTORIES }, (_, index) => {
    const turns = Array.from({ length: TURNS }, (_, k): CreditTurn => {
      const numbers = () => Array.from({ length: tokens }, noise);
      return {
        reward: k === TURNS - 1 ? Math.round(noise()) : 0,
        tokens,
        anchor: `state ${Math.floor(noise() * 30)} of task ${Math.floor(index / GROUP)}`,
        values: numbers(),
        entropies: numbers(),
        dense: [noise()],
        valid: noise() < 0.9,
        answerProbability: noise(),
        calls: k === TURNS - 1 ? [] : [call(Math.floor(noise() * 100))],
        counterfactual: noise(),
      };
    });
    const branch = index % 2 === 1 ? { parent: String(index - 1), sharedTurns: 20 } : {};
    return {
      id: String(index),
      groupId: String(Math.floor(index / GROUP)),
      role: 'agent',
      outcome: turns.at(-1)!.reward,
      success: turns.at(-1)!.reward > 0,
      entityShare: noise(),
      goldenCalls: Array.from({ length: GOLDEN_CALLS }, () => call(Math.floor(noise() * 100))),
      ...branch,
      turns,
    };
  });
}
