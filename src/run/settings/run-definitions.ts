/**
 * What settings name beside built-in names: definitions from files, and objects of a program. A run has them in its own
 * catalogue, by the name that `config.json` keeps: the absolute path of the file, or `code:NAME`.
 */

import type { CreditMethod } from '../../credit/contract/method.ts';
import type { RewardShaping } from '../../credit/shaping/shaping.ts';
import { composeCredit } from '../../credit/shaping/shapings.ts';
import {
  type Catalogue,
  openCurations,
  openPrompts,
  openTasks,
  openTurns,
} from '../../train/config/catalogue.ts';
import type { TrainConfig, TrainSettings } from '../../train/config/config.ts';
import { mergeSettings } from '../../train/config/merge.ts';
import type { RunSettings } from '../../train/config/setting-objects.ts';
import { lossOptions } from '../../train/kit/policy-objective.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import type { Definition } from '../load/definitions.ts';
import { isNameAlone, Naming } from './naming.ts';

/** Settings in which everything has a name, and the catalogue that knows all of these names. */
export interface NamedSettings {
  readonly settings: TrainSettings;
  readonly catalogue: Catalogue;
}

/**
 * Load what the settings name. Later layers win, key by key.
 *
 * @throws TurnwiseError `file-unknown`, `file-unusable`, `config-invalid` for an object that is something else
 */
export async function nameDefinitions(...layers: readonly RunSettings[]): Promise<NamedSettings> {
  const naming = new Naming();
  const named: TrainSettings[] = [];
  for (const layer of layers) named.push(await naming.settings(layer));
  return { settings: mergeSettings(...named) as TrainSettings, catalogue: naming.catalogue };
}

/**
 * The catalogue of a run that exists.
 *
 * @param given what only a program has
 * @throws TurnwiseError `definition-in-code` where something was made in code and is not given; as `nameDefinitions`
 */
export async function catalogueOf(
  config: Pick<RunSettings, 'context' | 'credit' | 'objective' | 'tasks' | 'turns' | 'curation' | 'prompts'>,
  given: readonly Definition[] = [],
  run?: string,
): Promise<Catalogue> {
  const naming = new Naming(given, run);
  const { context, credit, objective, tasks, turns, curation, prompts } = config;
  await naming.settings({ context, credit, objective, tasks, turns, curation, prompts });
  return naming.catalogue;
}

/** A credit method and shapings, each a name or a file: what `turnwise credit` is told. */
export async function nameCredit(
  method: string,
  shape: readonly string[],
): Promise<{
  readonly method: CreditMethod;
  /** Each with what `--set` calls it: a shaping from a file has the name that its author gave it. */
  readonly shapings: readonly (readonly [called: string, shaping: RewardShaping])[];
  readonly catalogue: Catalogue;
}> {
  const naming = new Naming();
  const named = (await naming.name('credit.method', method)) as string;
  const names = await Promise.all(shape.map((one) => naming.name('credit.shape', one) as Promise<string>));
  const { catalogue } = naming;
  const shapings = names.map((name) => {
    const shaping = catalogue.shapings.find(name);
    return [naming.called.get(shaping.name) ?? shaping.name, shaping] as const;
  });
  return { method: catalogue.credit.find(named), shapings, catalogue };
}

/** `key=value` assignments with the files that they name as absolute paths, and the catalogue that has what is in them. */
export async function nameInAssignments(
  set: readonly string[],
): Promise<{ readonly set: readonly string[]; readonly catalogue: Catalogue }> {
  const naming = new Naming();
  const named: string[] = [];
  for (const assignment of set) {
    const at = assignment.indexOf('=');
    const [written, value] = [assignment.slice(0, Math.max(0, at)), assignment.slice(at + 1)];
    const key = isNameAlone(written, value) ? `${written}.name` : written;
    named.push(at < 1 ? assignment : `${key}=${await naming.text(key, value)}`);
  }
  return { set: named, catalogue: naming.catalogue };
}

/**
 * Whether what the settings name still takes the options that a run has: a file may have changed since it began.
 *
 * @throws TurnwiseError `config-unknown-key`, `config-invalid`
 */
export function requireOptions(
  recipe: Recipe,
  { credit, objective, tasks, turns, curation, prompts }: TrainConfig,
  catalogue: Catalogue,
): void {
  const { method, rewardScale: _, shape, ...options } = credit;
  composeCredit({ method, options, shape }, catalogue);
  if (recipe.learn === undefined) lossOptions(objective, catalogue);
  openTasks(tasks, catalogue);
  openTurns(turns, catalogue);
  openCurations(curation, catalogue);
  openPrompts(prompts, catalogue);
}
