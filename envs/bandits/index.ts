/** Bandits: a safe arm beside a better, risky one (RAGEN, arXiv 2504.20073), and arms whose chances have to be explored. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { bestPull } from './best-pull.ts';
import { banditSentences } from './wording.ts';

/** An arm pays `pays` with probability `chance`, otherwise nothing. */
export type Arm = { readonly name: string; readonly chance: number; readonly pays: number };
export type BanditTask = { readonly arms: readonly Arm[] };
/** `wins` and `losses` of each arm so far. */
export type BanditState = BanditTask & {
  readonly wins: readonly number[];
  readonly losses: readonly number[];
};

export interface BanditOptions {
  readonly game: 'risk' | 'explore';
  readonly pulls: number;
}

const optionsSchema = z.strictObject({
  game: z
    .enum(['risk', 'explore'])
    .default('risk')
    .describe(
      'risk: one pull, a safe arm or a risky one; explore: several pulls of two arms of unknown chance',
    ),
  pulls: z.int().min(2).max(30).default(10).describe('Pulls of an episode of explore'),
  wording: wordingOption,
});

/** Names say which arm is risky; test tasks are pairs that training never sees together. */
export const CALM = [
  'turtle',
  'harbour',
  'pillow',
  'meadow',
  'candle',
  'blanket',
  'teapot',
  'snail',
] as const;
export const BOLD = [
  'dragon',
  'rocket',
  'tiger',
  'volcano',
  'thunder',
  'comet',
  'shark',
  'whirlwind',
] as const;

const SAFE = { chance: 1, pays: 0.1 };
const RISKY = { chance: 0.25, pays: 1 };
const EXPLORED = ['left', 'right'] as const;

export const expected = ({ chance, pays }: Arm): number => chance * pays;

/** The environment. An arm pays what it pays; in `explore` a win pays one over the number of pulls. */
export function bandits({ game, pulls }: BanditOptions): Environment<BanditTask, BanditState> {
  const turns = game === 'risk' ? 1 : pulls;
  /** The names; and in `explore` how often each won and lost. */
  const observe = ({ arms, wins, losses }: BanditState): string => {
    const told = arms.map(({ name }, arm) =>
      game === 'risk' ? name : `${name} won${wins[arm]} lost${losses[arm]}`,
    );
    return ['arms', ...told].join(' ');
  };
  return defineEnvironment<BanditTask, BanditState>({
    name: 'bandits',
    description: 'Choose among arms: a safe one and a better, risky one, or ones of unknown chance.',
    maxTurns: turns,
    facts: ['correct', 'answer'],
    tasks: drawnTasks('bandits', (rng) => {
      if (game === 'explore') {
        // Of two equal arms neither is better.
        const [first, second] = EXPLORED.map(() => Math.round(rng.next() * 1000) / 1000);
        if (first === second) return undefined;
        return {
          arms: EXPLORED.map((name, arm) => ({ name, chance: [first!, second!][arm]!, pays: 1 / pulls })),
        };
      }
      const arms = [
        { name: rng.pick(CALM), ...SAFE },
        { name: rng.pick(BOLD), ...RISKY },
      ];
      return { arms: rng.shuffle(arms) };
    }),
    start: ({ arms }) => {
      const state = { arms, wins: arms.map(() => 0), losses: arms.map(() => 0) };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (before, action, rng) => {
      const chosen = before.arms.findIndex(({ name }) => name === action);
      const arm = before.arms[chosen];
      const wins = arm !== undefined && rng.chance(arm.chance);
      const counted = (counts: readonly number[], counts1: boolean): readonly number[] =>
        counts.map((count, index) => count + (index === chosen && counts1 ? 1 : 0));
      const state = { ...before, wins: counted(before.wins, wins), losses: counted(before.losses, !wins) };
      const correct = arm !== undefined && expected(arm) === Math.max(...before.arms.map(expected));
      const done = game === 'risk' ? true : pullsOf(state) >= turns;
      const said = done ? (wins ? 'won' : 'lost') : observe(state);
      return {
        state,
        observation: arm || done ? said : `invalid ${said}`,
        reward: arm && wins ? arm.pays : 0,
        done,
        success: done && correct,
        valid: arm !== undefined,
        info: { credit: { correct, answer: arm?.name ?? '' } },
      };
    },
    anchor: observe,
    actions: ({ arms }) => arms.map(({ name }) => name),
    solve: ({ arms, wins, losses }, rng) => {
      const best =
        game === 'risk' ? arms.map(expected) : arms.map((_, arm) => bestPull({ wins, losses }, turns)[arm]!);
      const highest = Math.max(...best);
      return rng.pick(arms.filter((_, arm) => best[arm]! > highest - 1e-12)).name;
    },
    // It stays with what won most, and never explores; at first it likes what is safe.
    stumble: ({ arms, wins }, rng) => {
      const liked = game === 'risk' ? arms.map(({ chance }) => chance) : wins;
      const most = Math.max(...liked);
      return rng.chance(0.3)
        ? rng.pick(arms).name
        : rng.pick(arms.filter((_, arm) => liked[arm] === most)).name;
    },
    render: observe,
    natural: banditSentences(game, pulls),
  });
}

const pullsOf = ({ wins, losses }: Pick<BanditState, 'wins' | 'losses'>): number =>
  [...wins, ...losses].reduce((sum, count) => sum + count, 0);

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'bandits',
  description: 'Choose among arms: a safe one and a better, risky one, or ones of unknown chance.',
  options: optionsSchema,
  settings: { steps: 30 },
  create: ({ wording, ...options }) => fromEnvironment(bandits(options), { wording }),
});
