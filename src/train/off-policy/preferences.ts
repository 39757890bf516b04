/** Learning from sequences that are compared or judged: pairs of a better and a worse one, or single ones. */

import { Rng } from '../../core/rng.ts';
import type { RoleGroup, Trajectory } from '../../core/trajectory.ts';
import type { TokenRow } from '../../engine/engine.ts';
import type { Objective } from '../../objective/objective.ts';
import { minibatches } from '../batch.ts';
import { GradientSteps } from '../gradient-steps.ts';
import type { Learn, Memory, Moment, Update } from '../learn.ts';
import type { Learner } from '../learner.ts';
import { withoutSampler } from '../sampler-gap.ts';
import { byGroup, draw } from './replay.ts';
import { countedRow, recordedOf } from './rows.ts';

/** A sequence that counts as one: rows that weigh its tokens, and what it earned. */
export interface Side {
  readonly rows: readonly TokenRow[];
  readonly reward: number;
}

/** A pair, the better side first where one is, or a sequence on its own. */
export type Example = readonly [Side] | readonly [Side, Side];

export interface Preferences {
  /** The examples that the episodes of some tasks make. */
  readonly examples: (
    learner: Learner,
    groups: readonly RoleGroup[],
  ) => Promise<readonly Example[]> | readonly Example[];
  readonly objective: (learner: Learner) => Objective;
  /** Whose log-probabilities `referenceLogprobs` are: the kept copy's, or the policy's before this update. */
  readonly reference?: 'kept' | 'before';
  /** Why there may be no example. */
  readonly why: string;
}

/** From the groups of the step, or where there are none from tasks drawn from what was recorded. */
export function learnFromPreferences(preferences: Preferences): Learn {
  return async (learner, groups, moment, memory) => {
    const compared = await comparedGroups(learner, groups, moment, memory);
    const examples = await preferences.examples(learner, compared);
    const judged = await withReference(learner, examples, preferences.reference);
    const { minibatches: parts, epochs } = learner.config.optimizer;
    const rng = Rng.of('minibatches', learner.config.seed, moment.step);
    const steps = new GradientSteps(learner, moment);
    const objective = preferences.objective(learner);
    for (let epoch = 0; epoch < epochs && judged.length > 0; epoch++) {
      for (const part of minibatches(judged, parts, rng)) {
        const lesson = lessonOf(part);
        const rows = compared === groups ? lesson.rows : withoutSampler(lesson.rows);
        await steps.take({ ...lesson, rows }, objective);
      }
    }
    return updateOf(steps, memory, { 'preference/examples': judged.length }, preferences.why);
  };
}

/** What one or more gradient steps on the policy alone amount to. */
export function updateOf(
  steps: GradientSteps,
  memory: Memory,
  metrics: Readonly<Record<string, number>>,
  why: string,
): Update {
  return {
    metrics: {
      ...steps.metrics('policy/loss'),
      ...metrics,
      'optim/learning_rate': steps.learningRate,
      'tokens/trained': steps.trainedTokens,
    },
    memory,
    trainedTokens: steps.trainedTokens,
    updates: steps.updates,
    why,
  };
}

async function comparedGroups(
  { config, archive }: Learner,
  groups: readonly RoleGroup[],
  { step }: Moment,
  { replay }: Memory,
): Promise<readonly RoleGroup[]> {
  if (config.data === '') return groups;
  return draw(
    byGroup(await archive.recall(replay)),
    config.replay.batch,
    Rng.of('replay', config.seed, step),
  );
}

/** The whole of an episode as one side. */
export function wholeSide(episode: Trajectory, reward: number): Side {
  const [recorded] = recordedOf([episode]);
  return { rows: recorded!.samples.map((sample) => countedRow(sample)), reward };
}

/** One turn of an episode as one side: its tokens, after all that was before. */
export function turnSide(episode: Trajectory, turn: number, reward: number): Side {
  const [recorded] = recordedOf([episode]);
  const rows = recorded!.samples
    .map((sample) => countedRow(sample, (other) => other === turn))
    .filter(({ channels }) => channels.weight!.some((weight) => weight > 0))
    // What came after the turn changes nothing that counts.
    .map((row) => cutAfter(row, row.channels.weight!.lastIndexOf(1) + 1));
  return { rows, reward };
}

function cutAfter({ ids_T, channels }: TokenRow, tokens: number): TokenRow {
  return {
    ids_T: ids_T.slice(0, tokens),
    channels: Object.fromEntries(
      Object.entries(channels).map(([name, values]) => [name, values.slice(0, tokens)]),
    ),
  };
}

/** The same examples, with the log-probabilities that scores are relative to. */
async function withReference(
  { config, engine }: Learner,
  examples: readonly Example[],
  reference: Preferences['reference'],
): Promise<readonly Example[]> {
  const rows = examples.flat().flatMap((side) => side.rows);
  if (reference === undefined || rows.length === 0) return examples;
  const bare = rows.map(({ ids_T }) => ({ ids_T, channels: {} }));
  const { temperature } = config.rollout;
  const { logprobs } = await engine.score({ rows: bare }, { temperature, frozen: reference === 'kept' });
  let next = 0;
  const scored = ({ rows: ofSide, reward }: Side): Side => ({
    reward,
    rows: ofSide.map(({ ids_T, channels }) => ({
      ids_T,
      channels: { ...channels, referenceLogprobs: logprobs[next++]! },
    })),
  });
  return examples.map((example) => example.map(scored) as unknown as Example);
}

function lessonOf(examples: readonly Example[]): Parameters<GradientSteps['take']>[0] {
  const sides = examples.flat();
  const rows: TokenRow[] = [];
  const sequences = sides.map(({ rows: ofSide, reward }) => {
    const indices = ofSide.map((row) => rows.push(row) - 1);
    return { rows: indices, reward };
  });
  const pairs: (readonly [number, number])[] = [];
  let next = 0;
  for (const example of examples) {
    if (example.length === 2) pairs.push([next, next + 1]);
    next += example.length;
  }
  return { rows, sequences, pairs };
}
