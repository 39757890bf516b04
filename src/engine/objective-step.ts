/** One optimizer step's gradient of any objective: what it needs of the whole step first, then the passes. */

import { TurnwiseError } from '../core/errors.ts';
import type { Rng } from '../core/rng.ts';
import type { Objective, Prepared, StepStructure } from '../objective/contract/objective.ts';
import { countedTargets, policyMeans } from '../objective/contract/policy-means.ts';
import type { Engine, ForwardBackwardResult, TokenBatch, TokenScores } from './engine.ts';
import { scoredTargets } from './token-batch.ts';

export interface ObjectiveStepOptions extends StepStructure {
  readonly temperature: number;
  /** Number of the optimizer step, for schedules. */
  readonly step: number;
  readonly rng: Rng;
}

/**
 * Like `engine.forwardBackward`, for objectives that look at the whole step before gradients are taken as well: the
 * step is scored where that is needed, `prepare` makes its channels, and gradients are taken micro-batch by micro-batch.
 * Metrics under `policy/` are means over the tokens of the step.
 * @throws TurnwiseError `objective-lacks` where the objective needs sequences or pairs and the step has none.
 */
export async function forwardBackwardStep(
  engine: Engine,
  batch: TokenBatch,
  objective: Objective,
  options: ObjectiveStepOptions,
): Promise<ForwardBackwardResult> {
  const { temperature } = options;
  const counted = countedTargets(batch.targets);
  if (!objective.prepare) {
    const result = await engine.forwardBackward(batch, objective, { temperature });
    return { ...result, metrics: policyMeans(result.metrics, counted) };
  }
  const prepared = await prepareStep(engine, batch, { ...objective, prepare: objective.prepare }, options);
  const channels = { ...batch.targets.channels, ...prepared.channels };
  const targets = { ...batch.targets, channels };
  const result = await engine.forwardBackward({ ...batch, targets }, objective, { temperature });
  return {
    ...result,
    loss: result.loss + (prepared.loss ?? 0),
    metrics: { ...policyMeans(result.metrics, counted), ...prepared.metrics },
  };
}

async function prepareStep(
  engine: Engine,
  { rows, targets }: TokenBatch,
  { key, needs, prepare }: Objective & Required<Pick<Objective, 'prepare'>>,
  { temperature, step, rng, sequences = [], pairs = [] }: ObjectiveStepOptions,
): Promise<Prepared> {
  if (needs.sequences && sequences.length === 0) throw lacks(key, 'sequences');
  if (needs.pairs && pairs.length === 0) throw lacks(key, 'pairs');
  const { row_N, position_N, turn_N, channels } = targets;
  const scored = scoredTargets({ rows, targets });
  const score = (heads: readonly string[], frozen: boolean): Promise<TokenScores> =>
    engine.score(scored, { temperature, frozen, ...(heads.length > 0 && { heads }) });
  const atTargets = (values_B_T: readonly Float32Array[] = []): Float32Array =>
    Float32Array.from(row_N, (row, target) => values_B_T[row]?.[position_N[target]!] ?? 0);
  const headsAtTargets = ({ heads = {} }: Pick<TokenScores, 'heads'>): Record<string, Float32Array> =>
    Object.fromEntries(Object.entries(heads).map(([name, values]) => [name, atTargets(values)]));
  const present = needs.scores && (await score(needs.scores.heads ?? [], false));
  const frozen = needs.scores?.frozenHeads && (await score(needs.scores.frozenHeads, true));
  return prepare({
    rows: rows.length,
    row_N,
    position_N,
    turn_N,
    channels,
    logprobs_N: present ? atTargets(present.logprobs) : new Float32Array(0),
    heads: present ? headsAtTargets(present) : {},
    frozenHeads: frozen ? headsAtTargets(frozen) : {},
    sequences,
    pairs,
    step,
    rng,
  });
}

function lacks(key: string, what: string): TurnwiseError {
  return new TurnwiseError('objective-lacks', {
    what: `The objective ${key.split(' ')[0]} compares ${what}, and the step has none`,
    next: `Pass ${what} with the rows`,
  });
}
