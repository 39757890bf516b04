/**
 * Runs of two steps with settings drawn at random: recipe, environment, context, turns, tasks, curation, shaping and prompts, with
 * options of these, batches and stages. Each ends well, or is refused with a reason before its first episode; nothing that no policy sampled is trained.
 */

import { join } from 'node:path';
import { TurnwiseError } from '../../src/core/errors.ts';
import { Rng } from '../../src/core/rng.ts';
import { shapingRegistry } from '../../src/credit/shaping/shapings.ts';
import { curationRegistry, tasksRegistry } from '../../src/curation/registry.ts';
import { defineProposer, type RunSettings, train } from '../../src/exports/index.ts';
import { promptsRegistry } from '../../src/prompts/registry.ts';
import { contextRegistry } from '../../src/rollout/context/contexts.ts';
import { explorerNames } from '../../src/rollout/explore/explorers.ts';
import { turnsRegistry } from '../../src/rollout/turns/turn-controls.ts';
import { environmentNames } from '../../src/run/load/environments.ts';
import { choicesIn, readBy } from '../../src/train/config/run-schema.ts';
import { findRecipe, recipes } from '../../src/train/recipes/recipes.ts';
import {
  CURATION_OPTIONS,
  drawnBatches,
  drawnContext,
  drawnOptions,
  drawnStages,
  TURNS_OPTIONS,
} from './drawn-options.ts';
import { toolbox } from './toolbox.ts';

export interface Drawn {
  readonly environment: string;
  readonly recipe: string;
  readonly settings: RunSettings;
}

/** How a run went: `code` and `why` where it was refused. */
export type Walked =
  | { readonly ran: true; readonly folder: string; readonly episodes: number }
  | { readonly ran: false; readonly code: string; readonly why: string };

/** What a run may be refused for before it plays. */
const REFUSALS = new Set([
  'config-unknown-key',
  'config-invalid',
  'recipe-unfit',
  'no-script',
  'context-too-short',
]);

/** The share of walks in the world of tools; of those whose context needs tools it is a half. */
const TOOLS = { share: 0.1, needed: 0.5 };

/** Environments that start processes or whose tasks take seconds to make. */
const SLOW = new Set(['js-tasks']);

const tiny = {
  steps: 2,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 12, steps: 4, batch: 8, learningRate: 1e-2 },
  rollout: { tasks: 2, group: 4, maxTurns: 6, minimumMembers: 2 },
  replay: { size: 16, updates: 1, batch: 4 },
  critic: { updates: 1, warmupSteps: 1 },
  evaluation: { every: 0, finalTasks: 1 },
  checkpoint: { every: 10 },
} satisfies RunSettings;

const names = (registry: { readonly all: readonly { readonly name: string }[] }): string[] =>
  registry.all.map(({ name }) => name);

/** The configuration with that number, the same for the same seed. */
export function drawn(seed: string, index: number): Drawn {
  const rng = Rng.of('product', seed, index);
  const maybe = (share: number, of: readonly string[]): string | undefined =>
    rng.chance(share) ? rng.pick(of) : undefined;
  const built = rng.pick(environmentNames.filter((name) => !SLOW.has(name)));
  const recipe = rng.pick(recipes.filter(({ needs }) => !needs?.teacher)).name;
  const context = maybe(0.6, names(contextRegistry));
  const turns = maybe(0.5, names(turnsRegistry));
  const tasks = maybe(0.4, names(tasksRegistry));
  const curations = [maybe(0.4, names(curationRegistry)), maybe(0.2, names(curationRegistry))];
  const shaping = maybe(0.2, names(shapingRegistry));
  const explorer = maybe(0.2, explorerNames) as (typeof explorerNames)[number] | undefined;
  const prompts = maybe(0.2, names(promptsRegistry));
  const smoothed = rng.chance(0.1);
  const wantsTools = context !== undefined && (context.startsWith('tool-') || context === 'variables');
  const environment = rng.chance(wantsTools ? TOOLS.needed : TOOLS.share) ? toolbox.name : built;
  const batches = drawnBatches(rng);
  const named = curations.flatMap((name) => name ?? []);
  const stages = drawnStages(rng, { context, turns, curations: named, shaping });
  const chosen: RunSettings = {
    ...(context && { context: { name: context, ...drawnContext(rng, context) } }),
    ...(turns && { turns: { name: turns, ...drawnOptions(rng, TURNS_OPTIONS, turns) } }),
    ...(tasks && { tasks: { name: tasks } }),
    ...(named.length > 0 && {
      curation: Object.fromEntries(named.map((name) => [name, drawnOptions(rng, CURATION_OPTIONS, name)])),
    }),
    ...(shaping && { credit: { shape: { [shaping]: {} } } }),
    ...(explorer && { branching: { explorer } }),
    ...(prompts && { prompts: { name: prompts } }),
    ...(batches && { batches }),
    ...(stages && { stages: stages as NonNullable<RunSettings['stages']> }),
    ...(smoothed && { objective: { entropyCoefficient: 0.01, entropySmoothing: 1 } }),
  };
  return { environment, recipe, settings: { seed: index + 1, ...chosen } };
}

/** Writes prompts for whatever asks: an instruction, and changes to a list of experiences. */
const scribe = defineProposer({
  name: 'scribe',
  propose: (messages) => (messages[0]!.content.includes('JSON') ? '[{"op":"ADD","text":"go on"}]' : 'go on'),
});

/** Play and learn it. @throws whatever is neither a refusal nor a good end */
export async function walk(
  { environment, recipe, settings }: Drawn,
  runs: string,
  name: string,
): Promise<Walked> {
  const definition = findRecipe(recipe);
  const base = readBy(definition, tiny, choicesIn(definition.settings, settings as never));
  try {
    const { episodes } = await train({
      world: environment === toolbox.name ? toolbox : environment,
      recipe,
      name,
      runs,
      settings: { ...base, ...settings, ...proposing(settings) },
    });
    return { ran: true, folder: join(runs, name), episodes };
  } catch (error) {
    if (!TurnwiseError.isInstance(error) || !REFUSALS.has(error.code)) throw error;
    return { ran: false, code: error.code, why: error.message };
  }
}

/** The proposer beside the prompts that were drawn. */
function proposing({ prompts }: RunSettings): Pick<RunSettings, 'prompts'> {
  return typeof prompts === 'object' && !('kind' in prompts)
    ? { prompts: { ...prompts, proposer: scribe } }
    : {};
}
