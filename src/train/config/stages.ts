/**
 * Stages of a run: other settings for some of its steps, such as more turns later (AgentGym-RL, 2509.08755) or a strong penalty
 * at first (SCoRe, 2409.12917). What holds in a step follows from its number, and from the steps after which measured stages
 * have ended, which every checkpoint has: a resumed run cannot skip a stage.
 */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import type { StoredEvent } from '../loop/events.ts';
import type { TrainConfig } from './config.ts';
import { mergeSettings, OPEN_GROUPS, withoutLeftOut } from './merge.ts';
import { count } from './numbers.ts';
import { MAY_CHANGE, reasonToStay } from './stage-changes.ts';

type Plain = { readonly [key: string]: unknown };

const condition = z
  .strictObject({
    metric: z
      .string()
      .optional()
      .describe(
        'What is measured after every step: a metric of its event (docs/metrics.md), or success, return or turns of evaluations, such as evaluation/success',
      ),
    least: z.number().optional().describe('The stage ends when the metric is at least this, …'),
    most: z.number().optional().describe('… or at most this, …'),
    plateau: count
      .optional()
      .describe('… or has not been higher than its best by more than `gain` so many times in a row'),
    gain: z.number().min(0).default(0).describe('What counts as higher'),
    over: count.default(1).describe('Measurements of the stage that are averaged, the last ones'),
    steps: count.optional().describe('Most steps of the stage; alone, their number'),
  })
  .describe('A condition under which a stage ends');

/** When a stage ends that does not end by the number of the step alone. */
export type Condition = z.output<typeof condition>;

export const stages = z
  .array(
    z.strictObject({
      until: z
        .union([z.int().min(1), condition])
        .optional()
        .describe(
          'Its last step, or a condition under which it ends: {"metric":"reward/success","least":0.8}; without one it lasts to the end',
        ),
      set: z
        .looseObject({})
        .describe('Settings over those of the run, by their paths; false leaves a curation or a shaping out'),
    }),
  )
  .default([])
  .describe(
    'Other settings for some of the steps, in order: [{"until":20,"set":{"rollout.maxTurns":4}}]. What follows the last one has the settings of the run',
  );

export type Stage = z.output<typeof stages>[number];

/** The last step of each stage that its condition has ended, by its place in the list; null of the others. */
export type StageEnds = readonly (number | null)[];

/** The last step of each stage, as far as is known: Infinity of one that may still go on for ever. */
export function lastSteps(list: readonly Stage[], ends: StageEnds = []): number[] {
  let before = 0;
  return list.map(({ until = Number.POSITIVE_INFINITY }, index) => {
    const last =
      typeof until === 'number' ? until : (ends[index] ?? before + (until.steps ?? Number.POSITIVE_INFINITY));
    before = Math.max(before, last);
    return last;
  });
}

/** The last step of each stage that another one followed, as the log of the run tells: all that have ended by its last step. */
export function endsInLog(list: readonly Stage[], events: readonly StoredEvent[]): StageEnds {
  const begun = events.flatMap((event) => (event.type === 'stage' ? [event] : []));
  return list.map((_, index) => {
    const next = begun.find(({ stage }) => stage > index + 1);
    return next === undefined ? null : next.step - 1;
  });
}

/** The place in the list of the stage of a step, counted from 1; -1 where no stage has it. */
export function stageOf(list: readonly Stage[], step: number, ends?: StageEnds): number {
  return lastSteps(list, ends).findIndex((last) => step <= last);
}

/** The configuration of a step, counted from 1. */
export function configAt(config: TrainConfig, step: number, ends?: StageEnds): TrainConfig {
  const stage = config.stages[stageOf(config.stages, step, ends)];
  return stage === undefined ? config : over(config, stage);
}

/** The settings of a stage over those of its run. */
function over(config: TrainConfig, { set }: Pick<Stage, 'set'>): TrainConfig {
  return withoutLeftOut(mergeSettings(config, set)) as TrainConfig;
}

/** The configurations that a run has at one time or another. */
export function configsOf(config: TrainConfig): TrainConfig[] {
  const own = config.stages.map((stage) => over(config, stage));
  return config.stages.at(-1)?.until === undefined && own.length > 0 ? own : [...own, config];
}

/**
 * What a stage is refused for, with its number.
 *
 * @param index its place in the list; undefined of what holds for the whole run
 */
export function inStage<T>(index: number | undefined, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (index === undefined || !TurnwiseError.isInstance(cause)) throw cause;
    const { code, fields, message } = cause;
    throw new TurnwiseError(code, { what: `Stage ${index + 1}: ${message}`, fields, cause });
  }
}

/**
 * Stages with every option filled in, and nothing in them that is as in the run. What a stage leaves out is `false` in it.
 *
 * @param facts what only the recipe of the run reads, and whether its tasks start at places
 * @param whole the configuration that settings over those of the run make
 * @throws TurnwiseError `config-invalid`; what `whole` throws
 */
export function resolveStages(
  config: TrainConfig,
  facts: Parameters<typeof reasonToStay>[2],
  whole: (set: Plain) => TrainConfig,
): Stage[] {
  let last = 0;
  return config.stages.map((stage, index, list) => {
    const { until = Number.POSITIVE_INFINITY } = stage;
    if (typeof until !== 'number') requireCondition(config, until, index);
    else if (until <= last || (until === Number.POSITIVE_INFINITY && index < list.length - 1))
      throw wrong(index, 'until', 'Stages follow each other', `until ${stage.until ?? 'none'} after ${last}`);
    else last = until;
    const set = byPaths(stage.set);
    requireNamed(config, set, index);
    const changed = differences(
      config,
      inStage(index, () => whole(set)),
    );
    for (const [path, value] of changed) {
      const reason = reasonToStay(path, config, facts);
      if (reason !== undefined)
        throw wrong(
          index,
          path.join('.'),
          `"${path.join('.')}" cannot change in a stage: ${reason}`,
          JSON.stringify(value),
          MAY_CHANGE,
          'Leave it out of the stage, or set it for the whole run',
        );
    }
    return { ...stage, set: mergeSettings(...changed.map(([path, value]) => nested(path, value))) };
  });
}

/** @throws TurnwiseError `config-invalid` for `{}` in the place of names, which would leave all that the run names */
function requireNamed(config: TrainConfig, set: Plain, index: number): void {
  for (const [group, inner] of OPEN_GROUPS) {
    const [given, known] = [set, config as Plain].map((one) => {
      const outer = one[group];
      return inner === undefined || !isPlain(outer) ? outer : outer[inner];
    });
    const names = isPlain(known) ? Object.keys(known) : [];
    if (!isPlain(given) || Object.keys(given).length > 0 || names.length === 0) continue;
    const path = inner === undefined ? group : `${group}.${inner}`;
    throw wrong(
      index,
      path,
      `"${path}" without a name changes nothing of what the run has`,
      '{}',
      names.map((name) => `"${path}.${name}": false`).join(', '),
      'Leave out by name what the stage is to have no more',
    );
  }
}

/** What evaluations measure, as conditions name it. */
export const EVALUATED = 'evaluation/';

/** Of these two equal runs may have other values. */
const UNEQUAL = /^(time|speed|loop)\//;

/** @throws TurnwiseError `config-invalid` for a condition that never ends, or that a resumed run would not meet alike */
function requireCondition(config: TrainConfig, until: Condition, index: number): void {
  const { metric, least, most, plateau, steps } = until;
  const limits = [least, most, plateau].filter((limit) => limit !== undefined).length;
  const refuse = (what: string, allowed: string): TurnwiseError =>
    wrong(index, 'until', what, JSON.stringify(until), allowed);
  if (metric === undefined ? limits > 0 || steps === undefined : limits !== 1)
    throw refuse(
      'Its condition says not when it ends',
      'a metric with one of least, most and plateau, steps beside it or alone',
    );
  if (metric === undefined) return;
  if (UNEQUAL.test(metric))
    throw refuse(`${metric} may differ between equal runs`, 'metrics that equal runs have alike');
  if (metric.startsWith(EVALUATED) && config.evaluation.every === 0)
    throw refuse('Nothing is evaluated during this run (evaluation.every is 0)', 'evaluation.every above 0');
  if (metric.startsWith(EVALUATED) && config.evaluation.tasks === 0)
    throw refuse(
      'How many tasks are evaluated depends on the time that this machine takes for them (evaluation.tasks is 0)',
      'evaluation.tasks above 0',
    );
  if (config.batches.maxStaleness > 0)
    throw refuse(
      `Steps are played ahead (batches.maxStaleness is ${config.batches.maxStaleness}), before the ones are measured that would end it`,
      'batches.maxStaleness=0, or the number of a step',
    );
}

function wrong(
  index: number,
  key: string,
  what: string,
  seen: string,
  allowed?: string,
  next = 'Steps are counted from 1, and `until` is the last step of a stage',
): TurnwiseError {
  return new TurnwiseError('config-invalid', {
    what: `Stage ${index + 1}: ${what}`,
    seen,
    ...(allowed !== undefined && { allowed }),
    next,
    fields: { key: `stages.${index}.${key}` },
  });
}

/** `{ 'a.b': 1 }` as `{ a: { b: 1 } }`. */
function byPaths(set: Plain): Record<string, Json> {
  const all = Object.entries(set).map(([path, value]) =>
    nested(path.split('.'), isPlain(value) ? byPaths(value) : value),
  );
  return mergeSettings(...all) as Record<string, Json>;
}

/** `1` at `['a', 'b']` as `{ a: { b: 1 } }`. */
function nested(path: readonly string[], value: unknown): Plain {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Plain;
}

/** The leaves of a configuration that differ from those of another, each with its path; false where a name was left out. */
function differences(
  from: unknown,
  to: unknown,
  path: readonly string[] = [],
): [path: readonly string[], value: unknown][] {
  if (path.length === 1 && path[0] === 'stages') return [];
  if (isPlain(from) && isPlain(to)) {
    const isOpen = OPEN_GROUPS.some((group) => group.join('.') === path.join('.'));
    const leftOut = isOpen ? Object.keys(from).filter((name) => !(name in to)) : [];
    return [
      ...Object.entries(to).flatMap(([name, value]) => differences(from[name], value, [...path, name])),
      ...leftOut.map((name): [readonly string[], unknown] => [[...path, name], false]),
    ];
  }
  return JSON.stringify(from) === JSON.stringify(to) ? [] : [[path, to]];
}

/** The leaves of settings by their paths, as one writes them. */
export function settingsOf(set: Plain, path = ''): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(set).flatMap(([name, value]) => {
      const own = path === '' ? name : `${path}.${name}`;
      return isPlain(value) ? Object.entries(settingsOf(value, own)) : [[own, value]];
    }),
  );
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
