/** Trains a reward model from pairs: a scalar head on a pretrained model, or on the small model of a run. */

import { resolve } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import { wilsonInterval } from '../../core/statistics.ts';
import { readRows } from '../../data/read-rows.ts';
import { isPreference, type PreferenceRow } from '../../data/row.ts';
import { forwardBackwardStep } from '../../engine/objective-step.ts';
import { batchOf } from '../../engine/token-batch.ts';
import { softplus } from '../../objective/contract/sequence-loss.ts';
import { bradleyTerry, REWARD_HEAD } from '../../objective/critic/bradley-terry.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { runNames } from '../../store/runs.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import { isLocal, type ModelCard } from '../../train/model-card.ts';
import { movedTo } from '../model/policy-language.ts';
import { type ModelSearch, type OpenBase, openBase, openEngine, reopenBase } from '../model/run-model.ts';
import type { OpenedEngine } from '../open-model.ts';
import { type CheckpointState, ownCheckpoint } from '../run-checkpoint.ts';
import { readRunFile } from '../settings/run-recipe.ts';
import { version } from '../version.ts';
import { dividedPairs, ofConversations } from './held-out.ts';
import {
  type Coverage,
  type PairAccuracy,
  type RewardCard,
  requireNewFolder,
  writeRewardCard,
} from './reward-card.ts';
import {
  configOfModel,
  type ReadSequence,
  readerOf,
  rewardRow,
  rewardsOf,
  sequencesOf,
} from './reward-reader.ts';

export interface RewardModelRequest extends ModelSearch {
  /** Rows with `chosen` and `rejected`. */
  readonly file: string;
  /** The name of a run, a checkpoint folder, a GGUF file, or a model of the hub. */
  readonly model: string;
  readonly out: string;
  readonly force: boolean;
  readonly runs: string;
  readonly epochs: number;
  /** Pairs of an update. */
  readonly batch: number;
  readonly learningRate: number;
  /** Share of the tasks whose pairs are held out. */
  readonly heldOut: number;
  readonly rank: number;
  readonly contextLength: number;
  readonly seed: number;
  readonly threads: number;
  readonly onUpdate?: (done: number, total: number, figures: { loss: number; accuracy: number }) => void;
}

/** A pair as the model reads it: the preferred way first. */
type ReadPair = readonly [ReadSequence, ReadSequence];

/**
 * Train a reward model, and write it.
 *
 * @throws TurnwiseError `data-invalid`, `reward-pairs-missing`, `file-exists`; as the opening of models
 */
export async function trainRewardModel(request: RewardModelRequest): Promise<RewardCard> {
  const { file, out, force, seed, signal } = request;
  requireNewFolder(out, force);
  const rows = pairsOf(file);
  const { kept, heldOut, by } = dividedPairs(rows, request.heldOut, seed);
  if (kept.length === 0 || heldOut.length === 0) throw tooFew(file, rows, heldOut.length);
  const { card, settings, engine } = await openModelWithHead(request);
  try {
    const renderer = await readerOf(card, configOfModel(settings));
    const { contextLength } = engine.capabilities;
    const readAll = (some: readonly PreferenceRow[]): ReadPair[] =>
      some.flatMap((row) => {
        const [better, worse] = sequencesOf(row, renderer, contextLength);
        // What lies beyond the context cannot tell the two apart.
        return better!.cut || worse!.cut ? [] : [[better!, worse!] as const];
      });
    const pairs = readAll(kept);
    const others = readAll(heldOut);
    if (pairs.length === 0 || others.length === 0) throw tooLong(file, contextLength);
    await learn(engine, pairs, request);
    signal.throwIfAborted();
    const rewards = await rewardsOfPairs(engine, pairs);
    const made: RewardCard = {
      v: 1,
      turnwise: version,
      card,
      settings,
      from: {
        file: resolve(file),
        model: request.model,
        ...{ epochs: request.epochs, batch: request.batch, learningRate: request.learningRate },
        ...{ heldOut: request.heldOut, by, seed },
      },
      trained: accuracyOf(rewards),
      heldOut: accuracyOf(await rewardsOfPairs(engine, others)),
      coverage: coverageOf(pairs, rewards),
    };
    await engine.save(out);
    writeRewardCard(out, made);
    return made;
  } finally {
    await engine.close();
  }
}

async function learn(
  engine: OpenedEngine,
  pairs: readonly ReadPair[],
  request: RewardModelRequest,
): Promise<void> {
  const { epochs, batch, learningRate, seed, signal, onUpdate } = request;
  const objective = bradleyTerry();
  const rng = Rng.of('reward-model', seed);
  const perEpoch = Math.ceil(pairs.length / batch);
  const total = epochs * perEpoch;
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const shuffled = rng.shuffle(pairs);
    for (let from = 0; from < shuffled.length; from += batch) {
      signal.throwIfAborted();
      const part = shuffled.slice(from, from + batch);
      const rows = part.flatMap((pair) => pair.map(rewardRow));
      const { loss, metrics } = await forwardBackwardStep(engine, batchOf(rows), objective, {
        temperature: 1,
        step,
        rng: Rng.of('objective', seed, step),
        sequences: rows.map((_, row) => ({ rows: [row], reward: 0 })),
        pairs: part.map((_, index) => [2 * index, 2 * index + 1] as const),
      });
      await engine.optimStep({
        learningRate: learningRate * (1 - (0.9 * step) / total),
        ...{ beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 },
      });
      onUpdate?.(++step, total, { loss, accuracy: metrics['preference/accuracy'] ?? 0 });
    }
  }
}

/** The model with a head of rewards, which begins anew. */
async function openModelWithHead(request: RewardModelRequest): Promise<{
  readonly card: ModelCard;
  readonly settings: TrainSettings;
  readonly engine: OpenedEngine;
}> {
  const { model, runs, seed, threads, rank, contextLength } = request;
  if (!runNames(runs).includes(model)) {
    const settings: TrainSettings = {
      ...{ seed, threads },
      model: { pretrained: model },
      lora: { rank },
      chat: { contextLength },
    };
    const open = (await openBase(configOfModel(settings), request))!;
    const card = withRewardHead({ shape: open.shape, base: open.base, system: '' });
    return { card, settings, engine: await openEngine(card, configOfModel(settings), open) };
  }
  const run = RunDirectory.openForReading({ root: runs, name: model, version });
  const { model: ofModel, lora, chat } = readRunFile(run).config;
  const checkpoint = await ownCheckpoint(run);
  const { card: learned } = checkpoint.state as unknown as CheckpointState;
  const open: OpenBase | undefined = await reopenBase(learned, request);
  const card = withRewardHead(movedTo(learned, open));
  const settings: TrainSettings = { seed, threads, model: ofModel, lora, chat };
  const engine = await openEngine(card, configOfModel(settings), open);
  try {
    await engine.load(checkpoint.folder, { optimizer: false });
    return { card, settings, engine };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** @throws TurnwiseError `engine-unsupported` for a model on a server */
function withRewardHead(card: ModelCard): ModelCard {
  const { shape } = card;
  if (!isLocal(shape))
    throw new TurnwiseError('engine-unsupported', {
      what: 'A reward model needs a head beside the policy, and a model on a server of the Tinker API has none',
      next: 'Name a model or a run of the embedded engine',
    });
  const { valueHead: _, extraHeads: __, guidance: ___, ...body } = shape;
  return { ...card, shape: { ...body, extraHeads: { [REWARD_HEAD]: 'scalar' } } };
}

/** The rewards of the preferred ways and of the others. */
async function rewardsOfPairs(
  engine: OpenedEngine,
  pairs: readonly ReadPair[],
): Promise<readonly (readonly [number, number])[]> {
  const rewards: number[] = [];
  for (let from = 0; from < pairs.length; from += 64)
    rewards.push(...(await rewardsOf(engine, pairs.slice(from, from + 64).flat())));
  return pairs.map((_, index) => [rewards[2 * index]!, rewards[2 * index + 1]!] as const);
}

function accuracyOf(rewards: readonly (readonly [number, number])[]): PairAccuracy {
  const right = rewards.reduce((sum, [a, b]) => sum + (a > b ? 1 : a === b ? 0.5 : 0), 0);
  const { low, high } = wilsonInterval(right, rewards.length);
  return {
    pairs: rewards.length,
    accuracy: right / rewards.length,
    interval: [low, high],
    loss: rewards.reduce((sum, [a, b]) => sum + softplus(b - a), 0) / rewards.length,
  };
}

function coverageOf(pairs: readonly ReadPair[], rewards: readonly (readonly [number, number])[]): Coverage {
  const ends = (numbers: readonly number[]): [number, number] => [
    numbers.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY),
    numbers.reduce((most, number) => Math.max(most, number), Number.NEGATIVE_INFINITY),
  ];
  return { reward: ends(rewards.flat()), tokens: ends(pairs.flat().map(({ tokens }) => tokens)) };
}

/** @throws TurnwiseError `reward-pairs-missing` where the file has none */
function pairsOf(file: string): PreferenceRow[] {
  const rows = readRows(file).map(({ row }) => row);
  const pairs = rows.filter(isPreference);
  if (pairs.length > 0) return pairs;
  throw new TurnwiseError('reward-pairs-missing', {
    what: `${file} has no pairs to learn a reward from`,
    seen: `${rows.length} conversations`,
    allowed: 'rows of messages, chosen and rejected',
    next: `Make pairs of conversations with rewards: turnwise data convert ${file} --pairs --out pairs.jsonl`,
    fields: { path: file },
  });
}

function tooFew(file: string, rows: readonly PreferenceRow[], heldOut: number): TurnwiseError {
  const conversations = ofConversations(rows).length;
  return new TurnwiseError('reward-pairs-missing', {
    what: `The pairs of ${file} cannot be divided: some must be held out, and some learned from`,
    seen: `${rows.length} pairs of ${2 * conversations} conversations, ${heldOut} of them held out`,
    allowed: 'pairs of at least four conversations, since those of the same two stay together',
    next: 'Give pairs of more conversations, of different tasks if possible',
    fields: { path: file },
  });
}

function tooLong(file: string, contextLength: number): TurnwiseError {
  return new TurnwiseError('reward-pairs-missing', {
    what: `No pair of ${file} fits the context of the model`,
    allowed: `conversations of at most ${contextLength - 1} tokens`,
    next: 'Raise --context-length, or record shorter conversations',
    fields: { path: file },
  });
}
