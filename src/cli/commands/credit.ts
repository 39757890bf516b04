/** `turnwise credit`: advantages of stored rollouts by any method. */

import { z } from 'zod';
import { creditMethods, findCreditMethod } from '../../credit/methods.ts';
import { readRollouts } from '../../credit/read-rollouts.ts';
import { creditReport, creditTable } from '../../credit/report.ts';
import { type Command, defineCommand } from '../command.ts';
import { applySettings } from '../settings.ts';

const options = z.strictObject({
  method: z
    .string()
    .describe(`How rewards become advantages: ${creditMethods.map(({ name }) => name).join(', ')}`),
  rollouts: z.string().describe('JSON or JSONL file of trajectories, such as runs/NAME/rollouts/1.jsonl'),
  set: z.array(z.string()).default([]).describe('Set an option of the method; may be repeated'),
  json: z.boolean().default(false).describe('Print JSON in full double precision'),
});

export const creditCommand: Command<typeof options> = defineCommand({
  name: 'credit',
  summary: 'Recompute the advantages of stored rollouts with any method',
  arguments: [],
  options,
  settings: async (given) => {
    const named = given.join(' ').match(/--method[ =](\S+)/)?.[1];
    return creditMethods.find(({ name }) => name === named)?.options;
  },
  examples: [
    'turnwise credit --method grpo --rollouts runs/frozen-lake-rloo-1/rollouts/1.jsonl',
    'turnwise credit --method gigpo --rollouts mine.jsonl --set gamma=0.9 --json',
    'turnwise credit --method gae --help',
  ],
  async run({ options: { method, rollouts, set, json }, console }) {
    const found = findCreditMethod(method);
    const settings = applySettings(found.options, {}, set, found.name);
    const stored = await readRollouts(rollouts);
    const report = creditReport(method, settings, stored);
    console.write(json ? `${JSON.stringify(report)}\n` : `${creditTable(report, stored)}\n`);
  },
});
