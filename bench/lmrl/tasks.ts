/** The tasks of LMRL-Gym (arXiv 2311.18232) that Turnwise ships, what their scores are measured against, and the methods compared. */

/** Raw mean returns that LMRL-Gym's repository holds, in its own reward, with the constants by which it normalises them. */
export interface Published {
  readonly least: number;
  readonly average: number;
  readonly most: number;
  readonly returns: Readonly<Partial<Record<Arm, number>>>;
}

export interface LmrlTask {
  readonly title: string;
  readonly environment: string;
  /** Assignments of a run, as `--set` takes them. */
  readonly settings: readonly string[];
  /** The worst return, which counts 0. */
  readonly least: number;
  readonly published?: Published;
}

export const ARMS = ['bc', 'filtered-bc', 'mc-returns', 'ilql', 'ppo', 'archer'] as const;
export type Arm = (typeof ARMS)[number];

/** Episodes of mixed players, of which every method begins: half of them a beginner's, and three moves in ten of either random. */
export const DATA = { demonstrations: 1000, beginnerShare: 0.5, randomRate: 0.3 } as const;

const data = Object.entries(DATA).map(([name, value]) => `clone.${name}=${value}`);
/** What learns from the recorded episodes alone takes as many updates, of 64 episodes each. */
const offline = [...data, 'steps=100', 'optimizer.learningRate=2e-3'];
const online = [...data, 'steps=40'];

/** Imitating everything is filtered behaviour cloning that filters nothing. */
export const METHODS: Readonly<
  Record<Arm, { readonly recipe: string; readonly settings: readonly string[] }>
> = {
  bc: { recipe: 'filtered-bc', settings: [...offline, 'objective.options.share=1'] },
  'filtered-bc': { recipe: 'filtered-bc', settings: offline },
  'mc-returns': { recipe: 'mc-returns', settings: offline },
  ilql: { recipe: 'ilql', settings: [...offline, 'critic.targetRate=0.05'] },
  ppo: { recipe: 'ppo', settings: online },
  archer: { recipe: 'archer', settings: online },
};

const maze = { environment: 'maze', least: -101 } as const;
const nav = { environment: 'text-nav', settings: [], least: 0 } as const;

export const TASKS: Readonly<Record<string, LmrlTask>> = {
  'maze-fully': {
    ...{ ...maze, title: 'Maze, fully observed', settings: ['environment.maxTurns=100'] },
    published: {
      ...{ least: -101, average: -83, most: -6.84 },
      returns: { bc: -72.1, 'filtered-bc': -56.4, 'mc-returns': -48.1, ilql: -6.97, ppo: -37.7 },
    },
  },
  'maze-partially': {
    ...{ ...maze, title: 'Maze, partially observed' },
    settings: ['environment.maxTurns=100', 'environment.observed=partially'],
    published: {
      ...{ least: -101, average: -83, most: -25.75 },
      returns: { bc: -79.5, 'filtered-bc': -82.9, 'mc-returns': -80.3, ilql: -52.9, ppo: -91.7 },
    },
  },
  'text-nav-fully': { ...nav, title: 'Text-Nav, fully observed' },
  'text-nav-partially': {
    ...{ ...nav, title: 'Text-Nav, partially observed', settings: ['environment.observed=partially'] },
  },
  wordle: { title: 'Wordle, 48 words', environment: 'wordle', settings: [], least: -6 },
  endgames: {
    ...{ title: 'Endgames, queen', environment: 'chess-endgames', settings: [], least: -1 },
    published: {
      ...{ least: -1, average: 0.586, most: 1 },
      returns: { bc: 0.112, 'filtered-bc': -0.439, 'mc-returns': 0.588, ilql: 0.452, ppo: 0.814 },
    },
  },
  'twenty-questions': {
    title: 'Twenty Questions',
    environment: 'twenty-questions',
    settings: [],
    least: -20,
  },
  'guess-my-city': { title: 'Guess My City', environment: 'guess-my-city', settings: [], least: -20 },
  'car-dealer': { title: 'Car Dealer', environment: 'car-dealer', settings: [], least: 0 },
};

/** LMRL-Gym's scale: the worst return is 0, the mean of the recorded episodes 50, the best 100. */
export function normalised(value: number, least: number, average: number, most: number): number {
  if (value <= average) return (50 * (value - least)) / (average - least);
  return 50 + (50 * (value - average)) / (most - average);
}
