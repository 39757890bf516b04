/** Credit of stored episodes by any method, as `turnwise credit` computes it. */

import { z } from 'zod';
import type { Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { creditMethods } from '../../credit/methods.ts';
import type { StoredRollout } from '../../credit/report/node/read-rollouts.ts';
import { type CreditReport, creditReport } from '../../credit/report/report.ts';
import { storedRollouts } from '../../credit/report/stored-rollouts.ts';
import { schemaFields } from '../../run/settings/schema-fields.ts';
import { learnedCredit } from '../../train/loop/learned-rollouts.ts';
import type { CreditAnswer, MethodRow } from '../shapes.ts';
import type { Groups } from './groups.ts';
import type { RunsFolder } from './runs-folder.ts';

const requestSchema = z.strictObject({
  run: z.string(),
  place: z.string(),
  group: z.int().min(0),
  method: z.string().optional(),
  options: z.record(z.string(), z.json()).default({}),
});

/** All methods; with a group, those that cannot read it say what it lacks. */
export function methodRows(group?: Group): MethodRow[] {
  const stored = group && storedRollouts([group]);
  return creditMethods.map(({ name, title, summary, formula, source, options }) => ({
    name,
    title,
    summary,
    formula,
    source,
    options: schemaFields(options).map(({ key, kind, type, default: usual, choices, description }) => ({
      key,
      kind,
      type,
      ...(usual !== undefined && { default: usual }),
      ...(choices && { choices }),
      description,
    })),
    ...(stored && problemWith(name, stored)),
  }));
}

function problemWith(name: string, stored: readonly StoredRollout[]): { problem?: string } {
  try {
    creditReport(name, {}, stored);
    return {};
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * The credit of one group, computed with all groups of its step, since some methods compare across them.
 *
 * @throws TurnwiseError `request-invalid`, those of the method, of reading episodes
 */
export async function creditOf(folder: RunsFolder, groups: Groups, body: unknown): Promise<CreditAnswer> {
  const {
    run: name,
    place,
    group: number,
    method,
    options,
  } = parseStrict(requestSchema, body, 'A request for credit');
  const run = folder.find(name);
  const { group } = await groups.read(run, place, number);
  const together = (await groups.step(run, place)) ?? [group];
  const report =
    method === undefined
      ? asTrained(together, (await groups.header(run, place)).credit)
      : creditReport(method, options, storedRollouts(together));
  return answer(report, together.length, group);
}

function asTrained(
  groups: readonly Group[],
  credit: Awaited<ReturnType<Groups['header']>>['credit'],
): CreditReport {
  if (!credit) {
    throw new TurnwiseError('credit-method-unnamed', {
      what: 'This step does not say how its credit was computed',
      next: 'Choose a method',
    });
  }
  return learnedCredit(groups, credit).report;
}

function answer(report: CreditReport, count: number, group: Group): CreditAnswer {
  const byId = new Map(report.trajectories.map((trajectory) => [trajectory.id, trajectory]));
  return {
    method: report.method,
    options: report.config as JsonObject,
    groups: count,
    members: roleGroups([group]).flatMap(({ role, members }) =>
      members.flatMap(({ id }, member) => {
        const turns = byId.get(id)?.turns;
        return turns
          ? [
              {
                member,
                role,
                turns: turns.map(({ advantage, tokens }) => ({ advantage, ...(tokens && { tokens }) })),
              },
            ]
          : [];
      }),
    ),
  };
}
