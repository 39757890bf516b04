/** `turnwise credit`: advantages of stored rollouts by any method. */

import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { StepCredit } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { creditMethods } from '../../credit/methods.ts';
import { readRollouts, type StoredRollout } from '../../credit/report/node/read-rollouts.ts';
import { type CreditReport, creditReport, creditTable } from '../../credit/report/report.ts';
import { storedRollouts } from '../../credit/report/stored-rollouts.ts';
import { rewardShapings } from '../../credit/shaping/shapings.ts';
import { readDatasetGroups } from '../../run/data/dataset-rows.ts';
import { catalogueOf, nameCredit } from '../../run/settings/run-definitions.ts';
import { applySettings } from '../../run/settings/settings.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import { OWN } from '../../train/config/own-definitions.ts';
import { learnedCredit } from '../../train/loop/learned-rollouts.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  method: z
    .string()
    .optional()
    .describe(
      `How rewards become advantages: ${creditMethods.map(({ name }) => name).join(', ')}; or a file such as ./credit.ts. Default: as the run computed the step`,
    ),
  rollouts: z
    .string()
    .describe(
      'Stored episodes, such as runs/NAME/rollouts/1.jsonl.gz, or a JSON or JSONL file of trajectories',
    ),
  shape: z
    .array(z.string())
    .default([])
    .describe(
      `Change the rewards first; may be repeated: ${rewardShapings.map(({ name }) => name).join(', ')}`,
    ),
  set: z
    .array(z.string())
    .default([])
    .describe('Set an option of the method, or of a shaping as SHAPING.OPTION=VALUE; may be repeated'),
  json: z.boolean().default(false).describe('Print JSON in full double precision'),
});

export const creditCommand: Command<typeof options> = defineCommand({
  name: 'credit',
  summary: 'Recompute the advantages of stored rollouts with any method',
  arguments: [],
  options,
  settings: async (given) => {
    const flag = given.findIndex((word) => /^--method(=|$)/.test(word));
    const named = given[flag]?.split('=', 2)[1] ?? given[flag + 1];
    if (flag < 0 || named === undefined) return undefined;
    return (await nameCredit(named, [])).method.options;
  },
  examples: [
    'turnwise credit --rollouts runs/frozen-lake-rloo-1/rollouts/1.jsonl.gz',
    'turnwise credit --method grpo --rollouts runs/frozen-lake-rloo-1/rollouts/1.jsonl.gz',
    'turnwise credit --method gigpo --rollouts mine.jsonl --set gamma=0.9 --json',
    'turnwise credit --method grpo --shape ufo --set ufo.lambda=0.2 --rollouts mine.jsonl',
    'turnwise credit --method gae --help',
  ],
  async run({ options: { method, rollouts, shape, set, json }, console }) {
    const shard = existsSync(rollouts) ? readEpisodeFile(rollouts) : undefined;
    const file = shard ?? (existsSync(rollouts) ? readDatasetGroups(rollouts) : undefined);
    const tell = (report: CreditReport, stored: readonly StoredRollout[]): void =>
      console.write(json ? `${JSON.stringify(report)}\n` : `${creditTable(report, stored)}\n`);
    if (method === undefined) {
      const credit = shard?.header.credit;
      // A file that cannot be read is refused first.
      if (!file) await readRollouts(rollouts);
      if (!file || !credit || shape.length + set.length > 0) throw unnamed(rollouts, credit !== undefined);
      requireNamed(rollouts, credit);
      const catalogue = await catalogueOf({ credit: { method: credit.method, shape: credit.shape } });
      const { stored, report } = learnedCredit(file.groups, credit, catalogue);
      tell({ ...report, asTrained: { rewardScale: credit.rewardScale } }, stored);
      return;
    }
    const { method: found, shapings, catalogue } = await nameCredit(method, shape);
    const ofShaping = (called: string) => set.filter((assignment) => assignment.startsWith(`${called}.`));
    const ofMethod = set.filter(
      (assignment) => !shapings.some(([called]) => ofShaping(called).includes(assignment)),
    );
    const settings = applySettings(found.options, {}, ofMethod, found.name);
    const shapes = Object.fromEntries(
      shapings.map(([called, { name, options: schema }]) => {
        const own = ofShaping(called).map((assignment) => assignment.slice(called.length + 1));
        return [name, applySettings(schema, {}, own, called)];
      }),
    );
    const stored = file ? storedRollouts(file.groups) : await readRollouts(rollouts);
    tell(creditReport(found.name, settings, stored, shapes, {}, catalogue), stored);
  },
});

/** Stored episodes name what a recipe brought along, and do not say where that recipe is. */
function requireNamed(path: string, { method, shape }: StepCredit): void {
  const own = [method, ...Object.keys(shape)].find((name) => name.startsWith(OWN));
  if (own === undefined) return;
  throw new TurnwiseError('credit-method-unnamed', {
    what: `The credit of ${path} was computed with "${own.slice(OWN.length)}", a definition of its recipe`,
    seen: 'no --method',
    next: 'Export it from a file, and name that: --method ./mine.ts, or --shape ./mine.ts beside a method',
    fields: { path },
  });
}

function unnamed(path: string, isKnown: boolean): TurnwiseError {
  return new TurnwiseError('credit-method-unnamed', {
    what: isKnown
      ? '--set and --shape belong to a method that --method names'
      : `${path} does not say how its credit was computed`,
    seen: 'no --method',
    ...(!isKnown && { allowed: 'a training step of a recipe that computes credit' }),
    next: isKnown
      ? 'Add --method NAME, or leave them out to compute credit as the run did'
      : 'Add --method NAME',
    fields: { path },
  });
}
