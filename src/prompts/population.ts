/**
 * A population of instructions that evolves beside the policy: INSPO, arXiv 2512.01945.
 *
 *   p_j ∝ exp(w_j / temperature),   w_j ← decay · w_j + (1 − decay) · mean return of its groups in the step
 *
 * Every `every` steps the worse half of the instructions that were tried enough goes, and the proposer reads an instruction with
 * episodes that failed under it, and writes another.
 *
 * 1. The constants are our choice: the paper as we could read it does not give them.
 * 2. The paper scores a new instruction on a small held-out set before it joins. Here it joins, is drawn in half of the groups
 *    until it was tried in `trials` of them, and cannot be pruned before.
 * 3. All episodes of a group read one instruction, and advantages are normalised within the group.
 */

import { z } from 'zod';
import { system, user } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import { mean } from '../core/statistics.ts';
import { instructionIn } from './instruction.ts';
import { outcomeOf, outcomesOf, round, transcriptOf } from './outcomes.ts';
import { type DefinedPrompts, definePrompts, type PromptedGroup } from './prompt-source.ts';

/** An instruction of the population. */
export type Weighed = { readonly text: string; readonly weight: number; readonly trials: number };
type Failure = { readonly prompt: string; readonly outcome: number; readonly transcript: string };
type Memory = { readonly all: readonly Weighed[]; readonly failures: readonly Failure[] };

/** Failures that are remembered, the worst. */
const CAPACITY = 32;
const TRANSCRIPT = 1500;

export const population: DefinedPrompts = definePrompts({
  name: 'population',
  summary: 'a population of instructions: those that pay are drawn more often, and the others are replaced',
  options: z.strictObject({
    initial: z
      .array(z.string())
      .min(1)
      .default([''])
      .describe('The first instructions; an empty text is none'),
    size: z.int().min(1).default(6).describe('Instructions of the population'),
    temperature: z.number().positive().default(0.1).describe('Temperature at which they are drawn by weight'),
    decay: z
      .number()
      .min(0)
      .lt(1)
      .default(0.9)
      .describe('Share of its weight that an instruction keeps each step'),
    every: z.int().min(1).default(10).describe('Steps after which the worse half is replaced'),
    trials: z.int().min(1).default(4).describe('Groups that an instruction is tried in before it may go'),
    failures: z.int().min(0).default(3).describe('Failed episodes that the proposer is shown'),
    longest: z.int().min(1).default(2000).describe('Characters of an instruction, at most'),
  }),
  start: ({ initial }): Memory => ({
    all: [...new Set(initial)].map((text) => ({ text, weight: 0, trials: 0 })),
    failures: [],
  }),
  ask({ memory: { all }, options, rng }) {
    const untried = all.filter(({ trials }) => trials < options.trials);
    if (untried.length > 0 && (untried.length === all.length || rng.chance(0.5)))
      return rng.pick(untried).text;
    return drawn(all, options.temperature, rng).text;
  },
  best: ({ memory: { all }, options }) => bestOf(all, options.trials).text,
  async tell(groups, { memory, options, step, rng, propose }) {
    const all = memory.all.map((one) => weighed(one, groups, options.decay));
    // Of equals the latest.
    const failures = [...failuresIn(groups), ...memory.failures]
      .sort((a, b) => a.outcome - b.outcome)
      .slice(0, CAPACITY);
    if (step % options.every !== 0) return { all, failures };
    const left = survivors(all, options);
    const next = [...left];
    for (let place = left.length; place < options.size; place++) {
      const parent = drawn(left, options.temperature, rng);
      const own = failures.filter(({ prompt }) => prompt === parent.text);
      const shown = worstFirst(own, rng).slice(0, options.failures);
      const text = instructionIn(await propose(question(parent, shown)), options.longest);
      if (text === undefined || next.some((one) => one.text === text)) continue;
      next.push({ text, weight: parent.weight, trials: 0 });
    }
    // What is said of instructions that have gone helps nobody.
    return { all: next, failures: failures.filter(({ prompt }) => next.some(({ text }) => text === prompt)) };
  },
});

/** The share of each in draws. */
export function shares(all: readonly Pick<Weighed, 'weight'>[], temperature: number): number[] {
  const most = Math.max(...all.map(({ weight }) => weight));
  const powers = all.map(({ weight }) => Math.exp((weight - most) / temperature));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

function drawn(all: readonly Weighed[], temperature: number, rng: Rng): Weighed {
  return rng.weighted(all, shares(all, temperature));
}

/** Those that were tried enough come before others. */
function bestOf(all: readonly Weighed[], trials: number): Weighed {
  const tried = all.filter((one) => one.trials >= trials);
  return (tried.length > 0 ? tried : all).reduce((best, one) => (one.weight > best.weight ? one : best));
}

function weighed(one: Weighed, groups: readonly PromptedGroup[], decay: number): Weighed {
  const own = groups.filter(({ prompt }) => prompt === one.text);
  if (own.length === 0) return one;
  const earned = mean(own.map(({ group }) => mean(outcomesOf(group))));
  const { text, weight, trials } = one;
  return {
    text,
    weight: trials === 0 ? earned : decay * weight + (1 - decay) * earned,
    trials: trials + own.length,
  };
}

/** Successive halving: the better half of the size, and those that were not tried enough; never none. */
export function survivors(
  all: readonly Weighed[],
  { size, trials }: { readonly size: number; readonly trials: number },
): Weighed[] {
  const tried = all.filter((one) => one.trials >= trials).sort((a, b) => b.weight - a.weight);
  const kept = new Set(tried.slice(0, Math.max(1, Math.floor(size / 2))));
  return all.filter((one) => one.trials < trials || kept.has(one));
}

/** The worst failure of each group. */
function failuresIn(groups: readonly PromptedGroup[]): Failure[] {
  return groups.flatMap(({ prompt, group }) => {
    const failed = group.members
      .filter(({ success }) => Object.values(success).includes(false))
      .map((episode) => ({ episode, outcome: round(outcomeOf(group, episode)) }));
    const [worst] = failed.sort((a, b) => a.outcome - b.outcome);
    if (!worst) return [];
    return [{ prompt, outcome: worst.outcome, transcript: transcriptOf(group, worst.episode, TRANSCRIPT) }];
  });
}

/** The worse first; those that are as bad in any order. */
function worstFirst(failures: readonly Failure[], rng: Rng): Failure[] {
  return rng.shuffle(failures).sort((a, b) => a.outcome - b.outcome);
}

function question({ text, weight }: Weighed, failures: readonly Failure[]) {
  const shown = failures.map(({ transcript }, index) => `Episode ${index + 1}\n${transcript}`).join('\n\n');
  return [
    system(
      'You improve the instruction of an agent. Say first what went wrong in its episodes and why, then write a better instruction between <instruction> and </instruction>. It must hold for all tasks of this kind, not for these alone.',
    ),
    user(
      `The instruction (mean return ${round(weight)}):\n${text === '' ? '(none)' : text}\n\n${shown === '' ? 'No failed episode is at hand.' : `Episodes that failed under it:\n\n${shown}`}`,
    ),
  ];
}
