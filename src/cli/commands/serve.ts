/** `turnwise serve`: our engine behind the Tinker API, for trainers in any language. */

import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { findModel } from '../../model/hub/find-model.ts';
import { checkpointSource, randomSource } from '../../run/model/served-model.ts';
import { tinkerKeyVariable } from '../../run/model/tinker-key.ts';
import { listenTinker } from '../../server/tinker/listen.ts';
import { type Command, defineCommand } from '../command.ts';
import { allowHostOption, servedKey, shownKey } from '../served-key.ts';

const count = z.int().min(1);
const options = z.strictObject({
  engine: z.enum(['embedded']).default('embedded').describe('The engine'),
  model: z
    .string()
    .optional()
    .describe('Checkpoint folder, GGUF file, or owner/name on the hub; models are LoRA adapters on it'),
  name: z.string().optional().describe('Name of the base model; default: the folder’s, or "small"'),
  port: z.int().min(0).max(65_535).default(8765).describe('Port; 0 takes a free one'),
  host: z.string().default('127.0.0.1').describe('Address to listen on; the default is this machine alone'),
  allowHost: allowHostOption,
  checkpoints: z.string().default('tinker-checkpoints').describe('Folder for saved weights'),
  models: count.default(4).describe('Models under training at once'),
  sessionTimeout: z.int().min(-1).default(300).describe('Seconds of silence that end a session; -1 is never'),
  contextLength: count.optional().describe('Longest sequence; default: the model’s, at most 4096, or 256'),
  threads: count.default(2).describe('Threads of the engine'),
  tokenBudget: count.default(2048).describe('Padded tokens of the training micro-batches computed at once'),
  vocabulary: count.default(256).describe('Without --model: size of the vocabulary'),
  width: count.default(64).describe('Without --model: width of the residual stream'),
  layers: count.default(2).describe('Without --model: transformer blocks'),
  heads: count.default(4).describe('Without --model: attention heads'),
  seed: z.int().default(1).describe('Without --model: names the random weights'),
});

export const serveCommand: Command<typeof options> = defineCommand({
  name: 'serve',
  summary: 'Serve the embedded engine over the Tinker API',
  arguments: [],
  options,
  examples: [
    'turnwise serve --engine embedded --port 8765',
    'turnwise serve --model ./Qwen3-0.6B --name Qwen/Qwen3-0.6B',
  ],
  async run({ options: settings, console, interrupts }) {
    const { signal } = interrupts;
    const { model, port, host, threads, tokenBudget, contextLength, sessionTimeout, models } = settings;
    const source =
      model === undefined
        ? randomSource(settings.name ?? 'small', shapeOf(settings), settings.seed, { threads, tokenBudget })
        : await checkpointSource(await findModel(model, { environment: process.env, signal }), {
            name: settings.name ?? (existsSync(model) ? basename(resolve(model)) : model),
            threads,
            tokenBudget,
            ...(contextLength !== undefined && { contextLength }),
          });
    const key = servedKey(tinkerKeyVariable, 'tml-');
    const listening = await listenTinker({
      source,
      folder: settings.checkpoints,
      port,
      host,
      limits: {
        mostModels: models,
        ...(sessionTimeout === -1
          ? { sessionTimeoutMs: Number.POSITIVE_INFINITY }
          : { sessionTimeoutMs: 1000 * sessionTimeout }),
      },
      app: { apiKey: key.value, allowHosts: settings.allowHost },
    });
    console.write(`${source.name} (${source.isLora ? 'LoRA' : 'trained whole'}) at ${listening.url}\n`);
    console.write(`Key: ${shownKey(key)}. Ctrl-C stops.\n`);
    await new Promise<void>((done) => {
      if (signal.aborted) done();
      signal.addEventListener('abort', () => done(), { once: true });
    });
    await listening.close();
    await source.close();
  },
});

function shapeOf({ vocabulary, width, layers, heads, contextLength }: z.output<typeof options>) {
  return {
    vocabulary,
    width,
    layers,
    heads,
    keyValueHeads: heads,
    headWidth: width / heads,
    hidden: Math.ceil((8 * width) / 3 / 8) * 8,
    activation: 'swiglu' as const,
    tiedHead: false,
    ropeTheta: 10_000,
    contextLength: contextLength ?? 256,
    normEpsilon: 1e-5,
  };
}
