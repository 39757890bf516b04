/** What a reward model knows of itself besides weights: its model, how it was trained, and what it has seen. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { writeError } from '../../core/write-error.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import type { ModelCard } from '../../train/model-card.ts';

/** Where the rewards and the lengths of the sequences lie that a reward model was trained on. */
export interface Coverage {
  readonly reward: readonly [least: number, most: number];
  /** In tokens. */
  readonly tokens: readonly [least: number, most: number];
}

/** How often a reward model agrees with pairs. */
export interface PairAccuracy {
  readonly pairs: number;
  /** Share of the pairs whose preferred way has the higher reward; equal rewards count half. */
  readonly accuracy: number;
  /** 95% (Wilson). */
  readonly interval: readonly [number, number];
  /** Mean of -log σ(margin). */
  readonly loss: number;
}

export interface RewardCard {
  readonly v: 1;
  readonly turnwise: string;
  readonly card: ModelCard;
  /** Settings of the model: threads and seed, context and adapter. */
  readonly settings: TrainSettings;
  /** The file of pairs, and how it was learned. */
  readonly from: {
    readonly file: string;
    readonly model: string;
    readonly epochs: number;
    readonly batch: number;
    readonly learningRate: number;
    readonly heldOut: number;
    /** By `openings`, no task is on both sides; by `pairs`, where the tasks were too few, no two conversations. */
    readonly by: 'openings' | 'pairs';
    readonly seed: number;
  };
  readonly trained: PairAccuracy;
  readonly heldOut: PairAccuracy;
  readonly coverage: Coverage;
}

const FILE = 'reward.json';

/** @throws TurnwiseError `disk-failed`, `disk-full` */
export function writeRewardCard(folder: string, card: RewardCard): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, FILE), `${JSON.stringify(card, null, 2)}\n`);
  } catch (error) {
    throw writeError(error, folder, 'The reward model is not complete', 'run the same command again');
  }
}

/** @throws TurnwiseError `reward-model-unknown` */
export function readRewardCard(folder: string): RewardCard {
  const path = join(folder, FILE);
  let card: RewardCard | undefined;
  try {
    card = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as RewardCard) : undefined;
  } catch {
    // Said below.
  }
  if (card?.v === 1) return card;
  throw new TurnwiseError('reward-model-unknown', {
    what: `${folder} holds no reward model`,
    seen: existsSync(path) ? `a ${FILE} that is none of ours` : `no ${FILE}`,
    next: 'Train one with "turnwise reward-model PAIRS --model MODEL --out FOLDER"',
    fields: { folder },
  });
}

/** @throws TurnwiseError `file-exists` */
export function requireNewFolder(folder: string, force: boolean): void {
  if (force || !existsSync(folder)) return;
  throw new TurnwiseError('file-exists', {
    what: `${folder} exists already`,
    next: 'Choose another folder with --out, or replace it with --force',
    fields: { path: folder },
  });
}
