/** Settings of the model: its size or its checkpoint, adapters, and the server that may hold it. */

import { z } from 'zod';
import { count } from './numbers.ts';

export const model = z.strictObject({
  pretrained: z
    .string()
    .default('')
    .describe('Checkpoint folder, or owner/name on the hub, to start from; empty makes a small model'),
  width: count.default(128).describe('Width of the residual stream'),
  layers: count.default(3).describe('Transformer blocks'),
  heads: count.default(4).describe('Attention heads; must divide the width'),
  hidden: count.default(344).describe('Width of the feed-forward layer (SwiGLU)'),
});

export const chat = z
  .strictObject({
    maxTurnTokens: z
      .int()
      .min(0)
      .default(0)
      .describe(
        'Longest completion of a pretrained model, in tokens; 0: twice the longest action that it imitates or chooses, 128 without any',
      ),
    contextLength: z
      .int()
      .min(0)
      .default(0)
      .describe('Longest conversation in tokens; 0 takes the pretrained model’s, at most 4096'),
    system: z
      .string()
      .default('')
      .describe('The first system message; empty makes one from the environment’s description and actions'),
    thinking: z
      .enum(['template', 'on', 'off'])
      .default('template')
      .describe('enable_thinking of the chat template; template leaves it undefined'),
  })
  .describe('How a pretrained model is spoken to');

export const lora = z
  .strictObject({
    rank: z
      .int()
      .min(0)
      .default(0)
      .describe('Rank of the adapters, with --model or a server 16 unless set; 0 trains all weights'),
    alpha: z.number().min(0).default(0).describe('Their scale is alpha / rank; 0 is twice the rank'),
    targets: z.enum(['attention', 'mlp', 'all']).default('all').describe('Matrices that have an adapter'),
  })
  .describe('Low-rank adapters over a pretrained model');

export const tinker = z
  .strictObject({
    baseUrl: z.string().default('').describe('Address of the server, without /api/v1'),
    baseModel: z.string().default('').describe('The server’s name of the model to train'),
    lossScale: z
      .enum(['auto', 'sum', 'mean'])
      .default('auto')
      .describe('Whether the server adds losses up or averages them; auto finds out'),
    protobuf: z.boolean().default(false).describe('Send batches as protobuf, where a server insists on it'),
  })
  .describe('The server of the Tinker API that trains, with engine=tinker');
