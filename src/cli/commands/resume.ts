/** `turnwise resume`: go on with a run that was stopped or killed. */

import { z } from 'zod';
import { namedSinks, sinkForms } from '../../run/sinks/named-sinks.ts';
import { resumeRun } from '../../run/training-run.ts';
import { type Command, defineCommand } from '../command.ts';
import { meterOf, spendOptions } from '../spend-options.ts';
import { watchRun } from '../terminal/watch-run.ts';

const options = z.strictObject({
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  sink: z.array(z.string()).default([]).describe(`Send metrics elsewhere too: ${sinkForms}; may be repeated`),
  ...spendOptions,
  json: z.boolean().default(false).describe('Print events as JSON lines'),
});

export const resumeCommand: Command<typeof options> = defineCommand({
  name: 'resume',
  summary: 'Continue a run from its last checkpoint, bit for bit',
  arguments: [{ name: 'run', description: 'Name of the run', required: true }],
  options,
  examples: ['turnwise resume frozen-lake-rloo-1'],
  async run(invocation) {
    const name = invocation.arguments.run!;
    const sinks = await namedSinks(invocation.options.sink);
    const spend = meterOf(invocation.options);
    await watchRun(invocation, (control) => resumeRun({ ...control, spend, name, sinks }));
  },
});
