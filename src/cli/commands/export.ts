/** `turnwise export`: the trained model of a run as a folder that other programs load. */

import { existsSync, readdirSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { TinkerEngine } from '../../engine/tinker/tinker-engine.ts';
import { findEnvironment } from '../../run/load/environments.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
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
    if (existsSync(to) && readdirSync(to).length > 0) {
      throw new TurnwiseError('export-exists', {
        what: `The folder ${to} is not empty`,
        next: 'Name one that does not exist',
        fields: { folder: to },
      });
    }
    const opened = await openCheckpoint({
      root,
      name: name!,
      ...(step !== undefined && { step }),
      findFactory: findEnvironment,
      signal: interrupts.signal,
    });
    const { engine, card } = opened;
    try {
      if ('words' in card) {
        throw new TurnwiseError('export-unsupported', {
          what: `The model of run "${name}" was made for its task, and no other program knows its words`,
          allowed: 'runs that started from --model',
          next: `Play it with: turnwise play ENVIRONMENT --run ${name}`,
          fields: { run: name! },
        });
      }
      if (engine instanceof TinkerEngine && merged) {
        throw new TurnwiseError('export-unsupported', {
          what: `The weights that the adapter of run "${name}" belongs to are on a server`,
          seen: '--merged',
          next: 'Export the adapter, and merge it into the model with peft',
          fields: { run: name! },
        });
      }
      const adapter = engine instanceof TinkerEngine || (engine.lora !== undefined && !merged);
      await (adapter ? engine.exportAdapter(to) : engine.exportModel(to));
      const loads = adapter
        ? 'PeftModel.from_pretrained(base, …)'
        : 'AutoModelForCausalLM.from_pretrained(…)';
      console.write(`${adapter ? 'Adapter' : 'Model'} written to ${to}; load it with ${loads}\n`);
    } finally {
      // Not the engine alone: an agent's run has a server too, which would keep the process alive.
      await opened.close();
    }
  },
});
