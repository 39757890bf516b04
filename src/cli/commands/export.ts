/** `turnwise export`: the trained model of a run as a folder or a GGUF file that other programs load. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { type ExportKind, exportModel } from '../../run/export-model.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  to: z.string().describe('Folder to write, or FILE.gguf; it must not exist yet'),
  merged: z
    .boolean()
    .default(false)
    .describe('Write the whole model with the adapter merged into it, instead of the adapter'),
  type: z.enum(['f32', 'f16', 'q8_0']).optional().describe('Of the weights in a GGUF file; default: f16'),
  step: z.int().min(0).optional().describe('Which checkpoint; default: the last'),
  player: z.string().optional().describe('Which of several learners, by its name; default: the first'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
});

export const exportCommand: Command<typeof options> = defineCommand({
  name: 'export',
  summary: 'Write a trained model for transformers, peft, llama.cpp or --model',
  arguments: [{ name: 'run', description: 'Name of the run', required: true }],
  options,
  examples: [
    'turnwise export guess-number-rloo-1 --to adapter',
    'turnwise export guess-number-rloo-1 --to model --merged',
    'turnwise export guess-number-rloo-1 --to model.gguf --type q8_0',
    'turnwise export kuhn-poker-grpo-1 --to bob --player bob',
  ],
  async run({ arguments: { run: name }, options: given, console, interrupts }) {
    const { to, step, player, runs: root } = given;
    const chosen = { ...(step !== undefined && { step }), ...(player !== undefined && { player }) };
    const request = { root, name: name!, ...chosen, signal: interrupts.signal };
    const written = await exportModel(request, kindOf(given), to);
    const [what, loads] = ANSWERS[written];
    console.write(`${what} written to ${to}; load it with ${loads}\n`);
  },
});

function kindOf({ to, merged, type }: z.output<typeof options>): ExportKind {
  if (to.endsWith('.gguf')) return { gguf: type ?? 'f16' };
  if (type === undefined) return merged ? 'merged' : 'adapter';
  throw new TurnwiseError('config-invalid', {
    what: '--type is for GGUF files, and --to names a folder',
    seen: `--to ${to} --type ${type}`,
    next: 'Give the file a name that ends with .gguf, or leave --type out: folders hold 32-bit floats',
  });
}

const ANSWERS = {
  adapter: ['Adapter', 'PeftModel.from_pretrained(base, …)'],
  model: ['Model', 'AutoModelForCausalLM.from_pretrained(…)'],
  gguf: ['Model', 'llama.cpp, Ollama, LM Studio, or --model'],
} as const;
