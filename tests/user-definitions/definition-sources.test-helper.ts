/** What a user's files define: credit methods, a shaping, losses, contexts, sources of tasks, turn controls and a curation. */

/** They import the built package, so that every definition comes from another copy than the one that runs here. */
export const files = {
  'centred.ts': `
    import { defineCreditMethod, z } from 'turnwise/credit';
    export const centred = defineCreditMethod(
      { name: 'centred', summary: 'outcome minus a constant' },
      z.strictObject({ centre: z.number().default(0.5).describe('What is subtracted') }),
      ({ centre }) => (trajectories, state) => ({
        credits: trajectories.map(({ id, outcome, turns }) => ({
          id,
          turnAdvantages_K: turns.map(() => outcome - centre),
        })),
        state: { batches: Number(state['batches'] ?? 0) + 1 },
      }),
    );
    const broken = (name: string, advantages: (turns: number) => number[]) =>
      defineCreditMethod({ name, summary: 'wrong' }, z.strictObject({}), () => (trajectories, state) => ({
        credits: trajectories.map(({ id, turns }) => ({ id, turnAdvantages_K: advantages(turns.length) })),
        state,
      }));
    export const short = broken('short', () => []);
    export const nan = broken('nan', (turns) => Array(turns).fill(Number.NaN));
    export const throws = broken('throws', () => { throw new Error('out of ideas'); });`,
  'hurry.ts': `
    import { defineShaping, z } from 'turnwise/credit';
    export const hurry = defineShaping(
      { name: 'hurry', summary: 'every turn costs' },
      z.strictObject({ cost: z.number().default(0.01).describe('Price of a turn') }),
      ({ cost }) => (trajectories, state) => ({
        trajectories: trajectories.map((trajectory) => ({
          ...trajectory,
          outcome: trajectory.outcome - cost * trajectory.turns.length,
          turns: trajectory.turns.map((turn) => ({ ...turn, reward: turn.reward - cost })),
        })),
        state,
      }),
    );`,
  'bounded.ts': `
    import { clamp, multiply, negate, sum } from 'turnwise/graph';
    import { defineObjective, z } from 'turnwise/objective';
    export const bounded = defineObjective(
      { name: 'bounded', summary: 'log-likelihood times bounded advantage' },
      z.strictObject({ bound: z.number().positive().default(2).describe('Largest advantage, either way') }),
      ({ bound }) => ({
        channels: ['advantages'],
        needs: {},
        build: ({ weight, logprobs, channel }) => ({
          loss: negate(sum(multiply(weight, multiply(clamp(channel('advantages'), -bound, bound), logprobs)))),
          metrics: {},
        }),
      }),
    );
    export const vector = defineObjective({ name: 'vector', summary: 'no sum' }, z.strictObject({}), () => ({
      channels: [],
      needs: {},
      build: ({ logprobs }) => ({ loss: logprobs, metrics: {} }),
    }));`,
  'opening.ts': `
    import { defineContext, z } from 'turnwise';
    export const opening = defineContext({
      name: 'opening',
      summary: 'the first message and the latest',
      options: z.strictObject({ messages: z.int().min(1).default(1).describe('How many of the first') }),
      start: () => null,
      window: ({ calls, fresh, state, options: { messages } }) => ({
        conversation: { parts: [...calls.flatMap((call) => call.messages).slice(0, messages), ...fresh] },
        state,
      }),
    });
    export const silent = defineContext({
      name: 'silent',
      summary: 'nothing',
      options: z.strictObject({}),
      start: () => null,
      window: () => ({ conversation: { parts: [] }, state: null }),
    });`,
};

export const playFiles = {
  'hard.ts': `
    import { defineTasks, z } from 'turnwise';
    export const hard = defineTasks({
      name: 'hard',
      summary: 'fresh tasks, more episodes of them as fewer succeed',
      options: z.strictObject({ most: z.int().min(2).default(16).describe('Episodes of a task that nobody solves') }),
      start: () => ({ rate: 0 }),
      next: ({ wanted, tasks, memory, options }) =>
        tasks.fresh(wanted).map((index) => ({
          task: { split: 'train', index },
          members: Math.max(2, Math.round(options.most * (1 - memory.rate))),
        })),
      remember: (groups) => {
        const played = groups.flatMap(({ members }) => members);
        return { rate: played.filter(({ success }) => success.agent).length / Math.max(1, played.length) };
      },
    });`,
  'short.ts': `
    import { defineTurns, z } from 'turnwise';
    export const short = defineTurns({
      name: 'short',
      summary: 'few turns',
      options: z.strictObject({ most: z.int().min(1).default(3).describe('Turns') }),
      limit: (_task, { options, usual }) => Math.min(usual, options.most),
    });
    export const throws = defineTurns({ name: 'throws', after: () => { throw new Error('out of turns'); } });`,
  'over-turns.ts': `
    import { defineCuration, z } from 'turnwise';
    export const overTurns = defineCuration({
      name: 'over-turns',
      summary: 'episodes that ran out of turns are not learned from',
      options: z.strictObject({ least: z.int().default(1).describe('Turns that are enough') }),
      choose: () => ({
        choice: ({ stop }) => ({ inBaseline: true, inLoss: stop !== 'turn-limit', weight: 1 }),
      }),
    });`,
};
