/** Learning from sequences that are compared or judged: pairs of a better and a worse one, or single ones. */

import type { RoleGroup, Trajectory } from '../../core/trajectory.ts';
import { batchOf, type TokenRow } from '../../engine/token-batch.ts';
import type { Objective, StepStructure } from '../../objective/contract/objective.ts';
import type { TrainConfig } from '../config/config.ts';
import { minibatches } from '../kit/batch.ts';
import { type Learn, learning } from '../kit/learn.ts';
import { withoutSampler } from '../kit/sampler-gap.ts';
import type { Trainer } from '../kit/trainer.ts';
import { byGroup, draw, type Remembered } from './replay.ts';
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
    groups: readonly RoleGroup[],
    config: TrainConfig,
    trainer: Trainer,
  ) => Promise<readonly Example[]> | readonly Example[];
  readonly objective: (config: TrainConfig) => Objective;
  /** Whose log-probabilities `referenceLogprobs` are: the kept copy's, or the policy's before this update. */
  readonly reference?: 'kept' | 'before';
  /** Why there may be no example. */
  readonly why: string;
}

/** From the groups of the step, or where there are none from tasks drawn from what was recorded. */
export function learnFromPreferences(preferences: Preferences): Learn {
  return learning<Remembered>((config) => async (trainer, groups, { memory }) => {
    // Recipes that play their episodes remember none.
    const recorded = groups.length === 0 && memory.kept.length > 0;
    const compared = recorded ? await recordedGroups(trainer, memory, config.replay.batch) : groups;
    const examples = await preferences.examples(compared, config, trainer);
    const judged = await withReference(trainer, examples, preferences.reference);
    const rng = trainer.rng('minibatches');
    const objective = preferences.objective(config);
    for (let epoch = 0; epoch < config.optimizer.epochs && judged.length > 0; epoch++) {
      for (const part of minibatches(judged, config.optimizer.minibatches, rng)) {
        const { rows, ...structure } = examplesOf(part);
        const batch = batchOf(recorded ? withoutSampler(rows) : rows);
        await trainer.policy.learn({ ...batch, ...structure }, objective);
      }
    }
    const metrics = { 'preference/examples': judged.length };
    return { memory, keep: memory.kept, metrics, why: preferences.why };
  });
}

async function recordedGroups(
  trainer: Trainer,
  { kept }: Remembered,
  tasks: number,
): Promise<readonly RoleGroup[]> {
  return draw(byGroup(await trainer.recall(kept)), tasks, trainer.rng('replay'));
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

function cutAfter({ ids_T, turn_T, allowed_T, channels }: TokenRow, tokens: number): TokenRow {
  return {
    ids_T: ids_T.slice(0, tokens),
    ...(turn_T && { turn_T: turn_T.slice(0, tokens) }),
    ...(allowed_T && { allowed_T: allowed_T.slice(0, tokens) }),
    channels: Object.fromEntries(
      Object.entries(channels).map(([name, values]) => [name, values.slice(0, tokens)]),
    ),
  };
}

/** The same examples, with the log-probabilities that scores are relative to. */
async function withReference(
  { policy }: Trainer,
  examples: readonly Example[],
  reference: Preferences['reference'],
): Promise<readonly Example[]> {
  const rows = examples.flat().flatMap((side) => side.rows);
  if (reference === undefined || rows.length === 0) return examples;
  const { logprobs } = await policy.score(rows, { frozen: reference === 'kept' });
  let next = 0;
  const scored = ({ rows: ofSide, reward }: Side): Side => ({
    reward,
    rows: ofSide.map(({ channels, ...row }) => ({
      ...row,
      channels: { ...channels, referenceLogprobs: logprobs[next++]! },
    })),
  });
  return examples.map((example) => example.map(scored) as unknown as Example);
}

/** The rows of some examples, and how they belong together. */
function examplesOf(examples: readonly Example[]): { readonly rows: TokenRow[] } & StepStructure {
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
