/** `turnwise export`: the trained model of a run as a folder that other programs load. */

import { z } from 'zod';
import { exportModel } from '../../run/export-model.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  to: z.string().describe('Folder to write, which must not exist yet'),
  merged: z
    .boolean()
    .default(false)
    .describe('Write the whole model with the adapter merged into it, instead of the adapter'),
  step: z.int().min(0).optional().describe('Which checkpoint; default: the last'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
});

export const exportCommand: Command<typeof options> = defineCommand({
  name: 'export',
  summary: 'Write a trained model as a folder for transformers, peft or --model',
  arguments: [{ name: 'run', description: 'Name of the run', required: true }],
  options,
  examples: [
    'turnwise export guess-number-rloo-1 --to adapter',
    'turnwise export guess-number-rloo-1 --to model --merged',
  ],
  async run({ arguments: { run: name }, options: { to, merged, step, runs: root }, console, interrupts }) {
    const request = { root, name: name!, ...(step !== undefined && { step }), signal: interrupts.signal };
    const written = await exportModel(request, merged ? 'merged' : 'adapter', to);
    const [what, loads] =
      written === 'adapter'
        ? ['Adapter', 'PeftModel.from_pretrained(base, …)']
        : ['Model', 'AutoModelForCausalLM.from_pretrained(…)'];
    console.write(`${what} written to ${to}; load it with ${loads}\n`);
  },
});
