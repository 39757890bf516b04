/** Turn controls of a user: ScalingInter, percentiles, UFO, and two attempts as in SCoRe. */

import { defineTurns, type Episode, user, z } from 'turnwise';

/** ScalingInter-RL, arXiv 2509.08755: the limit grows with the steps. */
export const scalingInter = defineTurns({
  name: 'scaling-inter',
  summary: 'the limit grows with the steps',
  options: z.strictObject({
    rounds: z.array(z.int().min(1)).min(1).default([6, 13, 20]).describe('Limits, one after another'),
    every: z.int().min(1).default(100).describe('Steps of each'),
  }),
  limit: (_task, { step, options: { rounds, every } }) =>
    rounds[Math.min(Math.floor(step / every), rounds.length - 1)]!,
});

/** The smallest whole number that a share of the sorted numbers does not exceed, between neighbours by line. */
function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  const [a, b = a] = [sorted[low]!, sorted[low + 1]];
  return Math.ceil(a + (place - low) * (b! - a));
}

type Seen = { readonly turns: readonly number[] };

/** A soft limit with one extension and reminders, by what episodes took so far; the hard limit is the last level. */
export const percentiles = defineTurns({
  name: 'percentiles',
  summary: 'limits by what earlier episodes took, with reminders',
  options: z.strictObject({
    levels: z.array(z.number().min(0).max(1)).min(1).default([0.5, 0.75]).describe('Soft to hard, as shares'),
    cap: z.int().min(1).default(200).describe('Turns while too few episodes were seen'),
    free: z.int().min(1).default(50).describe('Episodes to see first'),
  }),
  start: (): Seen => ({ turns: [] }),
  limit: (_task, { options: { levels, cap, free }, memory }) =>
    memory.turns.length < free ? cap : percentile(memory.turns, levels.at(-1)!),
  after({ turn, limit }, { done, options: { levels, free }, memory }) {
    if (done || memory.turns.length < free) return 'go on';
    const soft = percentile(memory.turns, levels[0]!);
    if (turn === soft) return { say: user(`Extended: ${limit - turn} turns left.`) };
    return { say: user(`${(turn < soft ? soft : limit) - turn} turns left.`) };
  },
  remember: (groups, { memory, options: { free } }) => {
    const seen = groups.flatMap(({ members }) => members.map(({ transitions }) => transitions.length));
    return { turns: [...memory.turns, ...(memory.turns.length < free ? seen : [])].slice(-1000) };
  },
});

/** UFO, arXiv 2507.14295: "try again" after a wrong answer. */
export const ufo = defineTurns({
  name: 'ufo',
  summary: 'the same task until it is solved',
  options: z.strictObject({ attempts: z.int().min(1).default(5).describe('Turns of an episode') }),
  retries: true,
  limit: (_task, { options }) => options.attempts,
  after: ({ turn }, { done, success, options }) =>
    done && !success && turn < options.attempts ? { retry: user('Wrong. Try again.') } : 'go on',
});

/** SCoRe, arXiv 2409.12917: two attempts, whatever the first was worth. */
export const twoAttempts = defineTurns({
  name: 'two-attempts',
  summary: 'every task twice in one conversation',
  options: z.strictObject({ prompt: z.string().default('Correct your answer.').describe('Said between them') }),
  retries: true,
  after: ({ transitions }, { done, options }) =>
    done && (transitions.at(-1)?.attempt ?? 0) === 0 ? { retry: user(options.prompt) } : 'go on',
});

/** What SCoRe pays for each attempt, read off the record: the second also for what it added to the first. */
export function attemptRewards({ transitions }: Episode, alpha: number): readonly [number, number] {
  const of = (wanted: number): number =>
    transitions
      .filter(({ attempt = 0 }) => attempt === wanted)
      .reduce((sum, { rewards }) => sum + (rewards.agent ?? 0), 0);
  return [of(0), of(1) + alpha * (of(1) - of(0))];
}
