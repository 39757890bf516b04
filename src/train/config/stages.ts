/**
 * Stages of a run: other settings for some of its steps, such as more turns later (AgentGym-RL, 2509.08755) or a strong penalty
 * at first (SCoRe, 2409.12917). What holds in a step follows from its number alone, so that a resumed run cannot skip a stage.
 */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import type { TrainConfig } from './config.ts';
import { mergeSettings } from './merge.ts';

type Plain = { readonly [key: string]: unknown };

export const stages = z
  .array(
    z.strictObject({
      until: z.int().min(1).optional().describe('Its last step; without one it lasts to the end'),
      set: z.looseObject({}).describe('Settings over those of the run, by their paths'),
    }),
  )
  .default([])
  .describe(
    'Other settings for some of the steps, in order: [{"until":20,"set":{"rollout.maxTurns":4}}]. What follows the last one has the settings of the run',
  );

export type Stage = z.output<typeof stages>[number];

/** What may differ from step to step. Names stay: what is remembered under one means nothing to another. */
const CHANGES = ['optimizer', 'objective', 'credit', 'rollout', 'tasks', 'turns', 'curation', 'branching'];
const STAYS = [
  'objective.name',
  'credit.method',
  'tasks.name',
  'turns.name',
  ...['concurrency', 'batching', 'policyKey', 'failureLimit', 'exchangeEvery'].map(
    (leaf) => `rollout.${leaf}`,
  ),
];

/** The place in the list of the stage of a step, counted from 1; -1 where no stage has it. */
export function stageOf(list: readonly Stage[], step: number): number {
  return list.findIndex(({ until }) => until === undefined || step <= until);
}

/** The configuration of a step, counted from 1. */
export function configAt(config: TrainConfig, step: number): TrainConfig {
  const stage = config.stages[stageOf(config.stages, step)];
  return stage === undefined ? config : (mergeSettings(config, stage.set) as TrainConfig);
}

/** The configurations that a run has at one time or another. */
export function configsOf(config: TrainConfig): TrainConfig[] {
  const own = config.stages.map(({ set }) => mergeSettings(config, set) as TrainConfig);
  return config.stages.at(-1)?.until === undefined && own.length > 0 ? own : [...own, config];
}

/**
 * Stages with every option filled in, and nothing in them that is as in the run.
 *
 * @param own what only the recipe of the run reads
 * @param whole the configuration that settings over those of the run make
 * @throws TurnwiseError `config-invalid`; what `whole` throws
 */
export function resolveStages(
  config: TrainConfig,
  own: readonly string[],
  whole: (set: Plain) => TrainConfig,
): Stage[] {
  let last = 0;
  return config.stages.map((stage, index, list) => {
    const { until = Number.POSITIVE_INFINITY } = stage;
    if (until <= last || (until === Number.POSITIVE_INFINITY && index < list.length - 1))
      throw wrong(index, 'until', 'Stages follow each other', `until ${stage.until ?? 'none'} after ${last}`);
    last = until;
    const changed = differences(config, whole(byPaths(stage.set)));
    const refused = changed.find(([path]) => !mayChange(path));
    if (refused)
      throw wrong(
        index,
        refused[0],
        `"${refused[0]}" cannot change in a stage`,
        JSON.stringify(refused[1]),
        `options of ${CHANGES.join(', ')}, and those of a recipe of your own; not their names`,
      );
    return { ...stage, set: byPaths(Object.fromEntries(changed)) };
  });

  function mayChange(path: string): boolean {
    const [group = ''] = path.split('.');
    if (STAYS.includes(path)) return false;
    if (group === 'curation') return path.split('.')[1]! in config.curation;
    return CHANGES.includes(group) || own.includes(group);
  }
}

function wrong(index: number, key: string, what: string, seen: string, allowed?: string): TurnwiseError {
  return new TurnwiseError('config-invalid', {
    what: `Stage ${index + 1}: ${what}`,
    seen,
    ...(allowed !== undefined && { allowed }),
    next: 'Steps are counted from 1, and `until` is the last step of a stage',
    fields: { key: `stages.${index}.${key}` },
  });
}

/** `{ 'a.b': 1 }` as `{ a: { b: 1 } }`. */
function byPaths(set: Plain): Record<string, Json> {
  const nested = Object.entries(set).map(([path, value]) =>
    path
      .split('.')
      .reduceRight<unknown>((inner, name) => ({ [name]: inner }), isPlain(value) ? byPaths(value) : value),
  );
  return mergeSettings(...(nested as Plain[])) as Record<string, Json>;
}

/** The leaves of a configuration that differ from those of another, by path. */
function differences(from: unknown, to: unknown, path = ''): [path: string, value: unknown][] {
  if (path === 'stages') return [];
  if (isPlain(from) && isPlain(to))
    return Object.entries(to).flatMap(([name, value]) =>
      differences(from[name], value, path === '' ? name : `${path}.${name}`),
    );
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
