/** `turnwise reward-model`: a reward learned from pairs, with its accuracy on pairs that it has not seen. */

import { z } from 'zod';
import type { PairAccuracy } from '../../run/reward/reward-card.ts';
import { trainRewardModel } from '../../run/reward/train-reward-model.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  model: z
    .string()
    .describe(
      'What it begins with: the name of a run, a checkpoint folder, FILE.gguf, or owner/name on the hub',
    ),
  out: z.string().default('reward-model').describe('Folder to write'),
  heldOut: z.number().gt(0).lt(1).default(0.2).describe('Share of the tasks whose pairs are held out'),
  epochs: z.int().min(1).default(3).describe('Passes over the pairs'),
  batch: z.int().min(1).default(16).describe('Pairs of an update'),
  learningRate: z.number().positive().default(5e-4).describe('Peak learning rate; it falls to a tenth'),
  rank: z
    .int()
    .min(0)
    .default(16)
    .describe('Rank of the adapter over a pretrained model; 0 trains all weights'),
  contextLength: z
    .int()
    .min(0)
    .default(0)
    .describe('Longest conversation in tokens; 0 takes the pretrained model’s, at most 4096'),
  seed: z.int().default(1).describe('Which pairs are held out, and their order'),
  threads: z.int().min(1).default(2).describe('Threads of the engine'),
  force: z.boolean().default(false).describe('Write into a folder that exists'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  json: z.boolean().default(false).describe('Print JSON'),
});

export const rewardModelCommand: Command<typeof options> = defineCommand({
  name: 'reward-model',
  summary: 'Learn a reward from pairs of conversations, to train with it',
  arguments: [{ name: 'file', description: 'Rows of messages, chosen and rejected', required: true }],
  options,
  examples: [
    'turnwise reward-model pairs.jsonl --model frozen-lake-rloo-1',
    'turnwise reward-model pairs.jsonl --model ./folder --out judge',
    'turnwise train frozen-lake --set rewardModel.folder=reward-model --set rewardModel.environment=0',
  ],
  async run({ arguments: { file }, options: given, console, interrupts }) {
    const { json, ...request } = given;
    const made = await trainRewardModel({
      ...request,
      file: file!,
      signal: interrupts.signal,
      onUpdate: (done, total, { loss, accuracy }) => {
        if (json || (done % 10 !== 0 && done !== total)) return;
        console.write(
          `update ${done} of ${total}: loss ${loss.toFixed(3)}, accuracy ${accuracy.toFixed(2)}\n`,
        );
      },
    });
    const { trained, heldOut, coverage, from } = made;
    if (json) {
      console.write(`${JSON.stringify({ folder: given.out, trained, heldOut, coverage })}\n`);
      return;
    }
    const among = from.by === 'openings' ? 'of other tasks' : 'of other conversations';
    console.write(`accuracy on held-out pairs: ${accuracyText(heldOut)}, ${among}\n`);
    console.write(`accuracy on the pairs it learned from: ${accuracyText(trained)}\n`);
    console.write(`written to ${given.out}; pay with it: --set rewardModel.folder=${given.out}\n`);
  },
});

const accuracyText = ({ pairs, accuracy, interval: [low, high] }: PairAccuracy): string =>
  `${accuracy.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] of ${pairs}`;
