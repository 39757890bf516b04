/**
 * What credit costs: every method on 4,096 trajectories of 50 turns, in groups of 8, with what every batch of training
 * has (rewards, tokens, states, validity) and what else the method reads. A turn has one sampled token, as in most
 * environments here; methods that give every token an advantage of its own are measured with 8 as well, without a target,
 * since their cost is that of the tokens.
 */

import { execFileSync } from 'node:child_process';
import { Rng } from '../src/core/rng.ts';
import { quantile } from '../src/core/statistics.ts';
import type { CreditMethod } from '../src/credit/contract/method.ts';
import { creditMethods, findCreditMethod } from '../src/credit/methods.ts';
import type { CreditField } from '../src/credit/report/fields.ts';
import type { CreditTrajectory, CreditTurn, ToolCall } from '../src/credit/report/rollouts.ts';

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
const REPEATS = 15;
const roles = ['conversation', 'feedback'];

/** Settings that are measured besides the defaults, for methods whose cost depends on them. */
const variants: Readonly<Record<string, readonly object[]>> = {
  matchtir: [{ matching: 'greedy' }, { matching: 'transport' }],
  arpo: [{ attribution: 'hard' }],
  reinforce: [{ baseline: 'batch' }],
};

/** Figures of the methods named, measured here; of all, each in a process of its own, since a process trains with one. */
export function benchCredit(names: readonly string[]): Record<string, CreditFigure> {
  if (names.length === 0) return Object.assign({}, ...creditMethods.map(({ name }) => inItsOwnProcess(name)));
  return Object.assign({}, ...names.map((name) => figuresOf(findCreditMethod(name))));
}

function inItsOwnProcess(name: string): Record<string, CreditFigure> {
  process.stderr.write(`${name}\n`);
  const output = execFileSync(process.execPath, [process.argv[1]!, 'credit', name, '--json'], {
    encoding: 'utf8',
  });
  return JSON.parse(output).credit4096x50;
}

function figuresOf(method: CreditMethod): Record<string, CreditFigure> {
  const figures: Record<string, CreditFigure> = {};
  const targetMs = method.name === 'matchtir' ? 1000 : 100;
  const batch = syntheticBatch(method, 1);
  for (const options of [{}, ...(variants[method.name] ?? [])]) {
    const figure = measure(method, options, batch);
    const name = [method.name, ...Object.values(options)].join(' ');
    figures[name] = { ...figure, targetMs, reached: figure.medianMs <= targetMs };
  }
  if (method.level === 'token')
    figures[`${method.name}, 8 tokens a turn`] = measure(method, {}, syntheticBatch(method, 8));
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

/**
 * States repeat inside a group. Where the method reads it: every second rollout branched from another, or is the other
 * role of its episode, and every turn but the last calls a tool.
 */
function syntheticBatch({ needs, uses = [] }: CreditMethod, tokens: number): CreditTrajectory[] {
  const rng = Rng.of('bench', 'credit');
  const noise = () => rng.next();
  const numbers = () => Array.from({ length: tokens }, noise);
  const call = (number: number): ToolCall => ({
    name: `tool ${number % 5}`,
    arguments: { a: number % 3, b: `value ${number % 7}` },
  });
  const someCall = () => call(Math.floor(noise() * 100));
  const reads = new Set<CreditField>([...needs, ...uses]);
  return Array.from({ length: TRAJECTORIES }, (_, index) => {
    const turns = Array.from({ length: TURNS }, (_, k): CreditTurn => {
      const isLast = k === TURNS - 1;
      return {
        reward: isLast ? Math.round(noise()) : 0,
        tokens,
        anchor: `state ${Math.floor(noise() * 30)} of task ${Math.floor(index / GROUP)}`,
        valid: noise() < 0.9,
        ...(reads.has('turns[].values') && { values: numbers() }),
        ...(reads.has('turns[].entropies') && { entropies: numbers() }),
        ...(reads.has('turns[].dense') && { dense: [noise()] }),
        ...(reads.has('turns[].answerProbability') && { answerProbability: noise() }),
        ...(reads.has('turns[].calls') && { calls: isLast ? [] : [someCall()] }),
        ...(reads.has('turns[].counterfactual') && { counterfactual: noise() }),
        ...(reads.has('turns[].labelCorrect') && { labelCorrect: noise() < 0.5 }),
      };
    });
    const hasPartner = reads.has('episode');
    return {
      id: String(index),
      groupId: String(Math.floor(index / GROUP)),
      role: hasPartner ? roles[index % 2]! : 'agent',
      outcome: turns.at(-1)!.reward,
      success: turns.at(-1)!.reward > 0,
      ...(hasPartner && { episode: String(Math.floor(index / 2)) }),
      ...(reads.has('entityShare') && { entityShare: noise() }),
      ...(reads.has('goldenCalls') && { goldenCalls: Array.from({ length: GOLDEN_CALLS }, someCall) }),
      ...(reads.has('parent') && index % 2 === 1 && { parent: String(index - 1), sharedTurns: 20 }),
      turns,
    };
  });
}
