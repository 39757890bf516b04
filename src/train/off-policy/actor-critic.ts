/**
 * Actor and critic off-policy: a critic of utterances in a model of its own learns from kept episodes by temporal
 * differences, and the policy learns from the critic. What is particular to ArCHer and to Digi-Q is in their files.
 *
 * 1. The critic begins with what the policy has imitated, where the papers' begin with pretrained encoders of their own.
 * 2. Where V learns the value of fresh actions, it does so at one random turn of each row of an update, since every fresh
 *    action is a row to be scored; Q learns at all turns.
 * 3. A turn limit ends an episode for the critic, as in ArCHer's repository.
 */

import { allowedAt, isForced } from '../../core/choices.ts';
import type { Rng } from '../../core/rng.ts';
import { batchOf, type TokenRow } from '../../engine/token-batch.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { archerAdvantage, archerHeads, archerTargets } from '../../objective/critic/archer.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Replayed } from '../kit/archive.ts';
import { minibatches } from '../kit/batch.ts';
import { type Learn, learning } from '../kit/learn.ts';
import type { TrainedModel, Trainer } from '../kit/trainer.ts';
import { draw, type Remembered, remember } from './replay.ts';
import { type Imagined, imagine, type Utterance, type Utterances, utterancesOf } from './utterances.ts';

export type Heads = Readonly<Record<string, readonly Float32Array[]>>;

/** What V learns: Q of the policy's own action, of the recorded one, or its upper expectile. */
type StateTarget = 'imagined' | 'recorded' | 'least';

export interface ActorStep {
  readonly rows: readonly TokenRow[];
  readonly metrics: Readonly<Record<string, number>>;
}

export interface ActorCritic {
  readonly stateTarget: StateTarget;
  readonly criticObjective: (config: TrainConfig) => Objective;
  readonly actorObjective: (config: TrainConfig) => Objective;
  readonly actorStep: (
    trainer: Trainer,
    kept: readonly Replayed[],
    config: TrainConfig,
    rng: Rng,
  ) => Promise<ActorStep>;
  /** Whether the critic stands still once the policy learns. */
  readonly criticRests?: boolean;
}

/** First the critic, `critic.updates` times; then, after `critic.warmupSteps` steps, the policy. */
export function actorCritic(method: ActorCritic): Learn {
  return learning<Remembered>((config) => async (trainer, groups, { step, memory }) => {
    const kept = remember(memory, groups, config);
    const episodes = await trainer.recall(kept);
    const rng = trainer.rng('replay');
    const warmingUp = step <= config.critic.warmupSteps;
    if (kept.length > 0 && (warmingUp || !method.criticRests))
      await fitCritic(trainer, method, episodes, config, rng);
    let figures: Readonly<Record<string, number>> = {};
    if (kept.length > 0 && !warmingUp) {
      const { rows, metrics } = await method.actorStep(trainer, episodes, config, rng);
      figures = metrics;
      const objective = method.actorObjective(config);
      for (let epoch = 0; epoch < config.optimizer.epochs && rows.length > 0; epoch++) {
        for (const part of minibatches(rows, config.optimizer.minibatches, rng)) {
          await trainer.policy.learn(batchOf(weighted(part)), objective);
        }
      }
    }
    return {
      memory: { kept },
      keep: kept,
      metrics: { ...figures, 'replay/episodes': kept.length },
      why: 'nothing is kept to be learned from',
    };
  });
}

async function fitCritic(
  trainer: Trainer,
  { stateTarget, criticObjective }: ActorCritic,
  kept: readonly Replayed[],
  config: TrainConfig,
  rng: Rng,
): Promise<void> {
  const { updates, targetRate } = config.critic;
  const critic = trainer.critic!;
  const objective = criticObjective(config);
  for (let update = 0; update < updates; update++) {
    const utterances = drawUtterances(kept, config, rng);
    const rows = await criticRows(trainer, utterances, stateTarget, config, rng);
    await critic.learn(batchOf(rows), objective);
    await critic.keep(targetRate);
  }
}

export function drawUtterances(kept: readonly Replayed[], config: TrainConfig, rng: Rng): Utterances {
  return utterancesOf(draw(kept, config.replay.batch, rng), config.credit.rewardScale);
}

/** Rows with what the target network says that Q and V should be. */
async function criticRows(
  trainer: Trainer,
  utterances: Utterances,
  stateTarget: StateTarget,
  config: TrainConfig,
  rng: Rng,
): Promise<TokenRow[]> {
  const { ids, turns } = utterances;
  const { discount } = config.critic;
  const heads = await read(trainer.critic!, ids, true);
  const channels = ids.map(({ length }) => ({
    weight: new Float32Array(length),
    ...Object.fromEntries(CHANNELS.map((name) => [name, new Float32Array(length)])),
  })) as Record<string, Float32Array>[];
  const set = (name: string, row: number, token: number, value: number): void => {
    channels[row]![name]![token] = value;
  };
  for (const { row, end, reward, next } of turns) {
    const [q1, q2] = archerTargets(
      {
        reward,
        done: next === undefined,
        nextValues: next ? [heads.v1![next.row]![next.start]!, heads.v2![next.row]![next.start]!] : [0, 0],
      },
      discount,
    );
    set('weight', row, end, 1);
    set('actionEnd', row, end, 1 / turns.length);
    set('q1Target', row, end, q1);
    set('q2Target', row, end, q2);
  }
  const states = stateTarget === 'imagined' ? oneOfEach(turns, rng) : turns;
  const values = await stateTargets(trainer, utterances, states, heads, stateTarget, rng);
  for (const [index, { row, start }] of states.entries()) {
    set('weight', row, start, 1);
    set('actionStart', row, start, 1 / states.length);
    set('v1Target', row, start, values[index]![0]);
    set('v2Target', row, start, values[index]![1]);
  }
  return ids.map((ids_T, row) => ({ ids_T, channels: channels[row]! }));
}

const CHANNELS = ['actionStart', 'actionEnd', 'q1Target', 'q2Target', 'v1Target', 'v2Target'];

async function stateTargets(
  trainer: Trainer,
  utterances: Utterances,
  states: readonly Utterance[],
  heads: Heads,
  target: StateTarget,
  rng: Rng,
): Promise<readonly (readonly [number, number])[]> {
  if (target !== 'imagined') {
    return states.map(({ row, end }) => {
      const [one, two] = [heads.q1![row]![end]!, heads.q2![row]![end]!];
      const least = Math.min(one, two);
      return target === 'least' ? [least, least] : [one, two];
    });
  }
  const imagined = await imagine(trainer, utterances, states, rng);
  const said = await read(
    trainer.critic!,
    imagined.map(({ ids_T }) => ids_T),
    true,
  );
  return imagined.map(({ end }, index) => [said.q1![index]![end]!, said.q2![index]![end]!]);
}

/** One random turn of every row. */
function oneOfEach(turns: readonly Utterance[], rng: Rng): Utterance[] {
  const byRow = new Map<number, Utterance[]>();
  for (const turn of turns) byRow.set(turn.row, [...(byRow.get(turn.row) ?? []), turn]);
  return [...byRow.values()].map((all) => rng.pick(all));
}

export async function read(
  critic: TrainedModel,
  ids_B: readonly Int32Array[],
  frozen: boolean,
): Promise<Heads> {
  return (await critic.score(ids_B, { heads: archerHeads, frozen })).heads!;
}

/** min(Q) - min(V) of an utterance, as the present critic has it. */
export function advantageOf(
  heads: Heads,
  row: number,
  { start, end }: Pick<Utterance, 'start' | 'end'>,
): number {
  return archerAdvantage(
    [heads.q1![row]![end]!, heads.q2![row]![end]!],
    [heads.v1![row]![start]!, heads.v2![row]![start]!],
  );
}

/** A row that weighs the tokens of one utterance. The closing token, which nobody sampled, is left out. */
export function utteranceRow(
  { ids_T, start, end, samplerLogprobs, choices }: Imagined,
  advantage: number,
): TokenRow {
  const spread = (value: number): Float32Array =>
    Float32Array.from({ length: end }, (_, token) => (token < start ? 0 : value));
  const among = choices && allowedAt(choices, ids_T.subarray(start, end));
  const allowed_T = among && [...new Array<null>(start).fill(null), ...among];
  return {
    ids_T: ids_T.subarray(0, end),
    ...(allowed_T && { allowed_T }),
    channels: {
      weight: spread(1).map((weight, token) => (isForced(allowed_T?.[token]) ? 0 : weight)),
      advantages: spread(advantage),
      ...(samplerLogprobs && { samplerLogprobs }),
    },
  };
}

/** The mean over the rows of what each sums. */
function weighted(rows: readonly TokenRow[]): TokenRow[] {
  return rows.map(({ channels, ...row }) => ({
    ...row,
    channels: { ...channels, weight: channels.weight!.map((weight) => weight / rows.length) },
  }));
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
