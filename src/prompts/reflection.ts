/**
 * Instructions by reflection: GEPA, arXiv 2507.19457. One of the instructions on the Pareto front is drawn; the proposer reads
 * episodes under it, reflects, and writes another; both are tried beside each other, and the new one joins if it earns more.
 *
 * The front: for each task, the instructions that earned most at it; those that another one equals or beats at every task are not
 * on it. An instruction is drawn in proportion to the tasks that it leads.
 *
 * 1. The paper tries parent and child on the same examples. Here the tasks come from the source of tasks, so half of the groups,
 *    at random, read the child until each had `trials` groups.
 * 2. Only reflection; the paper also merges instructions of several modules.
 */

import { z } from 'zod';
import { type Message, system, user } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import { mean } from '../core/statistics.ts';
import { instructionIn } from './instruction.ts';
import { outcomesOf, round, transcriptOf } from './outcomes.ts';
import { type DefinedPrompts, definePrompts, type PromptedGroup } from './prompt-source.ts';

/** What an instruction earned: all of its groups, and by the latest of its tasks. */
export type Candidate = {
  readonly text: string;
  readonly sum: number;
  readonly groups: number;
  readonly tasks: readonly (readonly [task: string, earned: number])[];
};
type Trial = { readonly parent: string; readonly own: Candidate; readonly beside: Candidate };
type Memory = { readonly candidates: readonly Candidate[]; readonly trial: Trial | null };

/** Tasks that an instruction is remembered at, the latest. */
const CAPACITY = 256;

export const reflection: DefinedPrompts = definePrompts({
  name: 'reflection',
  summary:
    'instructions of a Pareto front over tasks; a reflection on episodes writes another, which must earn more to join',
  proposes: true,
  options: z.strictObject({
    initial: z.string().default('').describe('The first instruction; an empty text is none'),
    trials: z.int().min(1).default(4).describe('Groups in which an instruction and its successor are tried'),
    size: z.int().min(1).default(12).describe('Instructions that are kept, at most'),
    episodes: z.int().min(1).default(3).describe('Episodes that the proposer reads'),
    transcript: z.int().min(100).default(3000).describe('Characters of an episode that it reads'),
    longest: z.int().min(1).default(4000).describe('Characters of an instruction, at most'),
  }),
  start: ({ initial }): Memory => ({ candidates: [untried(initial)], trial: null }),
  ask({ memory: { candidates, trial }, rng }) {
    // At random, so that the tasks of one are not those of the other.
    if (trial) return rng.chance(0.5) ? trial.own.text : trial.parent;
    return drawnFrom(candidates, rng).text;
  },
  best: ({ memory: { candidates } }) => bestOf(candidates).text,
  async tell(groups, { memory, options, rng, propose }) {
    const candidates = memory.candidates.map((one) => withGroups(one, groups));
    const { trial } = memory;
    if (trial) {
      const own = withGroups(trial.own, groups);
      const beside = withGroups(trial.beside, groups);
      if (own.groups < options.trials || beside.groups < options.trials)
        return { candidates, trial: { ...trial, own, beside } };
      const isBetter = meanOf(own) > meanOf(beside);
      return { candidates: isBetter ? bounded([...candidates, own], options.size) : candidates, trial: null };
    }
    const parent = drawnFrom(candidates, rng);
    const read = groups.filter(({ prompt }) => prompt === parent.text);
    const shown = episodesOf(read, options, rng);
    if (shown.length === 0) return { candidates, trial: null };
    const text = instructionIn(await propose(question(parent, shown)), options.longest);
    if (text === undefined || candidates.some((one) => one.text === text)) return { candidates, trial: null };
    return {
      candidates,
      trial: { parent: parent.text, own: untried(text), beside: untried(parent.text) },
    };
  },
});

const untried = (text: string): Candidate => ({ text, sum: 0, groups: 0, tasks: [] });

const meanOf = ({ sum, groups }: Candidate): number =>
  groups === 0 ? Number.NEGATIVE_INFINITY : sum / groups;

function bestOf(candidates: readonly Candidate[]): Candidate {
  return candidates.reduce((best, one) => (meanOf(one) > meanOf(best) ? one : best));
}

/** With what it earned in the groups that read it. */
function withGroups(one: Candidate, groups: readonly PromptedGroup[]): Candidate {
  const own = groups.filter(({ prompt }) => prompt === one.text);
  if (own.length === 0) return one;
  const earned = own.map(({ group }) => [taskOf(group), mean(outcomesOf(group))] as const);
  const tasks = new Map(one.tasks);
  for (const [task, value] of earned) {
    tasks.delete(task);
    tasks.set(task, round(value));
  }
  return {
    text: one.text,
    sum: one.sum + earned.reduce((sum, [, value]) => sum + value, 0),
    groups: one.groups + own.length,
    tasks: [...tasks].slice(-CAPACITY),
  };
}

const taskOf = ({ members }: PromptedGroup['group']): string => String(members[0]?.key.task);

/** How many tasks each leads; 0 for those that another one equals or beats at all the tasks that it leads. */
export function frontOf(candidates: readonly Candidate[]): number[] {
  const best = new Map<string, number>();
  for (const [task, earned] of candidates.flatMap(({ tasks }) => tasks))
    best.set(task, Math.max(best.get(task) ?? Number.NEGATIVE_INFINITY, earned));
  const led = candidates.map(
    ({ tasks }) => new Set(tasks.filter(([task, earned]) => earned === best.get(task)).map(([task]) => task)),
  );
  const gone = new Set<number>();
  for (const [index, own] of led.entries()) {
    const covered = led.some(
      (other, place) =>
        place !== index &&
        !gone.has(place) &&
        [...own].every((task) => other.has(task)) &&
        (other.size > own.size || place < index),
    );
    if (covered) gone.add(index);
  }
  return led.map((own, index) => (gone.has(index) ? 0 : own.size));
}

function drawnFrom(candidates: readonly Candidate[], rng: Rng): Candidate {
  const front = frontOf(candidates);
  return front.some((tasks) => tasks > 0) ? rng.weighted(candidates, front) : bestOf(candidates);
}

/** Those on the front stay before others, then those that earn more. */
function bounded(candidates: readonly Candidate[], size: number): Candidate[] {
  const front = frontOf(candidates);
  const order = candidates
    .map((_, index) => index)
    .sort((a, b) => front[b]! - front[a]! || meanOf(candidates[b]!) - meanOf(candidates[a]!));
  const kept = new Set(order.slice(0, size));
  return candidates.filter((_, index) => kept.has(index));
}

/** The worst first, and one of the best, from which to tell the difference. */
function episodesOf(
  groups: readonly PromptedGroup[],
  { episodes, transcript }: { readonly episodes: number; readonly transcript: number },
  rng: Rng,
): string[] {
  const all = rng
    .shuffle(
      groups.flatMap(({ group }) => {
        const earned = outcomesOf(group);
        return group.members.map((episode, index) => ({ group, episode, earned: earned[index]! }));
      }),
    )
    .sort((a, b) => a.earned - b.earned);
  const shown = all.length > episodes && episodes > 1 ? [...all.slice(0, episodes - 1), all.at(-1)!] : all;
  return shown.slice(0, episodes).map(({ group, episode }) => transcriptOf(group, episode, transcript));
}

const question = ({ text }: Candidate, shown: readonly string[]): Message[] => [
  system(
    'You improve the instruction of an agent. Read its episodes with their outcomes, reflect on what the instruction lacks, keep what it says that is right, and write the whole new instruction between <instruction> and </instruction>. Put in what you learned about this kind of task.',
  ),
  user(
    `The instruction:\n${text === '' ? '(none)' : text}\n\n${shown.map((one, index) => `Episode ${index + 1}\n${one}`).join('\n\n')}`,
  ),
];
