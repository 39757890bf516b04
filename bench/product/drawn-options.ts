/** Options that walks draw beside the names of contexts, turn controls and curations, and settings of stages. */

import type { Rng } from '../../src/core/rng.ts';

type Options = Readonly<Record<string, unknown>>;
type ByName = Readonly<Record<string, readonly Options[]>>;

export const CONTEXT_OPTIONS: ByName = {
  'last-turns': [{ turns: 2 }, { tokens: 48 }, { every: 1 }],
  'tool-window': [{ results: 1 }, { results: 2, every: 1, placeholder: 'gone' }],
  'tool-retention': [{ keep: 1 }, { keep: 2, limit: 12, side: 'right' }],
  summary: [{ threshold: 24, summaries: 2 }, { threshold: 48 }],
  state: [{ note: false }, { act: 'Go.' }],
  'tool-memory': [{ mode: 'workflow' }, { mode: 'hybrid', most: 2, results: 1 }, { most: 3, results: 2 }],
  variables: [{ limit: 32, keep: 1 }],
  'task-graph': [{ nodes: 2 }],
  modes: [{ forced: 1 }, { forced: 0, modes: ['fast', 'slow'] }],
};

export const TURNS_OPTIONS: ByName = {
  'scaling-inter': [{ limits: [2, 8], every: 1 }],
  annealed: [{ initial: 8, every: 1 }],
  percentile: [{ levels: [0.5, 1], successes: 1 }],
  'early-stop': [{ tolerance: 1, most: 3 }],
  extended: [{ limits: [2, 4] }, { limits: [1, 3], demand: 'more' }],
  retry: [{ attempts: 2 }],
  'two-attempts': [{ message: 'Again.' }],
  'thinking-units': [{ units: 3, end: 'enough' }],
  modes: [{ turns: { instant: 1 } }],
};

export const CURATION_OPTIONS: ByName = {
  'dynamic-sampling': [{ rounds: 1 }],
  varied: [{ share: 0.5 }],
  'self-imitation': [{ warmupSteps: 0, batch: 2 }],
  'success-replay': [{ replace: false }],
  perplexity: [{ below: 0.5, above: 0.5 }],
  'uncertain-turns': [{ share: 0.5 }],
};

/** With `trained` false nothing that a context asks for is learned. */
export function drawnContext(rng: Rng, name: string): Options {
  return { ...drawnOptions(rng, CONTEXT_OPTIONS, name), ...(rng.chance(0.2) && { trained: false }) };
}

export function drawnOptions(rng: Rng, of: ByName, name: string): Options {
  const known = of[name];
  return known !== undefined && rng.chance(0.5) ? rng.pick(known) : {};
}

const BATCHES: readonly Options[] = [
  { parts: 2 },
  { maxStaleness: 1 },
  { order: 'ended', maxStaleness: 1, extra: 1 },
];

export function drawnBatches(rng: Rng): Options | undefined {
  return rng.chance(0.2) ? rng.pick(BATCHES) : undefined;
}

/** What walks have drawn so far. */
interface Named {
  readonly context?: string | undefined;
  readonly turns?: string | undefined;
  readonly curations: readonly string[];
  readonly shaping?: string | undefined;
}

/** A first step with other settings: of everything, or of what was drawn. */
export function drawnStages(rng: Rng, { context, turns, curations, shaping }: Named): object[] | undefined {
  if (!rng.chance(0.3)) return undefined;
  const of = (group: string, name: string | undefined, options: ByName): Options[] =>
    (options[name ?? ''] ?? []).map((one) => ({ [group]: one }));
  const sets: readonly Options[] = [
    { 'rollout.maxTurns': 3 },
    { 'rollout.maxTurns': 10 },
    { 'rollout.group': 3 },
    { 'optimizer.learningRate': 1e-3 },
    { 'rollout.tasks': 3, 'optimizer.clipNorm': 0.5 },
    ...of('context', context, CONTEXT_OPTIONS),
    ...of('turns', turns, TURNS_OPTIONS),
    ...curations.map((name) => ({ [`curation.${name}`]: false })),
    ...(shaping === undefined ? [] : [{ [`credit.shape.${shaping}`]: false }]),
  ];
  return rng.chance(0.5)
    ? [{ until: 1, set: rng.pick(sets) }]
    : [{ until: 1, set: {} }, { set: rng.pick(sets) }];
}
