/** LMRL-Gym's tasks as they are here, the players of their datasets, and the scores of the paper. */

/** Columns of the paper's table 2, and ArCHer, which came later. */
export const METHODS = ['bc', 'filtered-bc', 'mc-returns', 'ilql', 'ppo', 'archer'] as const;
export type Method = (typeof METHODS)[number];

export interface LmrlTask {
  readonly name: string;
  /** As the paper calls it. */
  readonly title: string;
  readonly environment: string;
  readonly set?: readonly string[];
  /** Of episodes as long as games of chess: fewer in an evaluation, and in a batch, which has as many turns as elsewhere. */
  readonly long?: { readonly evaluated: number; readonly batch: number };
  /** As `turnwise data play --players` reads them. */
  readonly players: string;
  /** The return of an agent that does nothing right. */
  readonly least: number;
  /** Normalised scores of the paper (arXiv 2311.18232, table 2), GPT-2 agents; `online filtered BC` is not among ours. */
  readonly paper: Readonly<Partial<Record<Method, number>>>;
}

const paper = (bc: number, filtered: number, mc: number, ilql: number, ppo: number): LmrlTask['paper'] => ({
  bc,
  'filtered-bc': filtered,
  'mc-returns': mc,
  ilql,
  ppo,
});

export const TASKS: readonly LmrlTask[] = [
  {
    name: 'maze-fo',
    title: 'Maze FO',
    environment: 'maze',
    // Walks that mostly miss the goal, as in the paper, whose data average -83 of at most 100 moves.
    players: 'expert,expert~0.7=3,random=6',
    least: -41,
    paper: paper(58.2, 68.9, 75.0, 99.9, 79.7),
  },
  {
    name: 'maze-po',
    title: 'Maze PO',
    environment: 'maze',
    set: ['observed=partially'],
    players: 'expert,expert~0.7=3,random=6',
    least: -41,
    paper: paper(53.1, 50.1, 52.5, 76.3, 42.4),
  },
  {
    name: 'text-nav-fo',
    title: 'Text-Nav FO',
    environment: 'text-nav',
    players: 'expert~0.5=2,random=2',
    least: 0,
    paper: paper(53.7, 65.1, 71.9, 91.8, 87.1),
  },
  {
    name: 'text-nav-po',
    title: 'Text-Nav PO',
    environment: 'text-nav',
    set: ['observed=partially'],
    players: 'expert~0.5=2,random=2',
    least: 0,
    paper: paper(49.7, 60.5, 71.6, 83.7, 85.5),
  },
  {
    name: 'wordle',
    title: 'Wordle',
    environment: 'wordle',
    players: 'expert,expert~0.5=2,random=2',
    least: -6,
    paper: paper(79.9, 79.1, 94.9, 97.7, 84.2),
  },
  {
    name: 'chess',
    title: 'Chess',
    environment: 'chess',
    long: { evaluated: 100, batch: 4 },
    players: 'expert,expert~0.3=2,beginner=2',
    least: -1,
    paper: paper(47.2, 42.9, 46.5, 47.3, 48.0),
  },
  {
    name: 'endgames',
    title: 'Endgames',
    environment: 'chess-endgames',
    players: 'expert,expert~0.3=2,beginner=2',
    least: 0,
    paper: paper(35.1, 17.7, 50.2, 45.8, 77.5),
  },
  {
    name: 'twenty-questions',
    title: '20 Questions',
    environment: 'twenty-questions',
    players: 'expert,expert~0.5=2,random=2',
    least: -20,
    paper: paper(57.1, 77.1, 87.1, 82.9, 72.9),
  },
  {
    name: 'guess-my-city',
    title: 'Guess My City',
    environment: 'guess-my-city',
    players: 'expert,expert~0.5=2,random=2',
    least: -20,
    paper: paper(30.0, 48.0, 88.0, 75.0, 49.9),
  },
  {
    name: 'car-dealer',
    title: 'Car Dealer',
    environment: 'car-dealer',
    players: 'expert,beginner=2,random=2',
    least: 0,
    paper: paper(44.5, 54.8, 57.2, 46.3, 50.5),
  },
];

/** How each method is run. All imitate the dataset first, filtered BC its successes; none was tuned task by task. */
export const RUNS: Readonly<Record<Method, { readonly recipe: string; readonly set: readonly string[] }>> = {
  bc: { recipe: 'sft', set: ['clone.from=all', 'clone.steps=200'] },
  'filtered-bc': { recipe: 'filtered-bc', set: ['steps=30', 'objective.options.share=0.1'] },
  'mc-returns': { recipe: 'mc-returns', set: ['clone.from=all', 'steps=100'] },
  // The authors' rate of 0.005 is for thousands of updates; here are 400, through which values must travel back.
  ilql: { recipe: 'ilql', set: ['clone.from=all', 'steps=100', 'critic.targetRate=0.05'] },
  ppo: { recipe: 'ppo', set: ['clone.from=all', 'steps=30'] },
  // The offline variant of its paper: `archer` itself learns from what it plays.
  archer: { recipe: 'archer-iql', set: ['clone.from=all', 'steps=30'] },
};

export const longSettings = ({ long }: LmrlTask, method: Method): readonly string[] =>
  long === undefined
    ? []
    : [
        `evaluation.finalTasks=${long.evaluated}`,
        // As many turns as 1,600 games have.
        ...['clone.steps=700', 'clone.batch=64'],
        method === 'ppo' ? `rollout.tasks=${long.batch}` : `replay.batch=${long.batch}`,
      ];

/** Returns of tens are scaled to a few units, which values learn sooner. */
export const valueSettings = ({ least }: LmrlTask): readonly string[] =>
  least <= -10 ? ['credit.rewardScale=0.1'] : [];

/**
 * The paper's scale: 0 for the least return, 50 for the mean of the dataset, 100 for the most.
 *
 * @example
 * normalised(-48.1, { least: -101, mean: -83, most: -6.84 }); // 72.9
 */
export function normalised(
  score: number,
  { least, mean, most }: { readonly least: number; readonly mean: number; readonly most: number },
): number {
  return score < mean ? (50 * (score - least)) / (mean - least) : 50 + (50 * (score - mean)) / (most - mean);
}
