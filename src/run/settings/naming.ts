/** Gives each definition the name by which a run knows it, and puts it into the catalogue of that run. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { builtIns, type Catalogue } from '../../train/config/catalogue.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import {
  definitionName,
  isNamingKey,
  isSettingDefinition,
  NAMING_KEYS,
  type NamingKey,
  type SettingDefinition,
  type SettingKind,
  withDefinition,
} from '../../train/config/setting-definitions.ts';
import { namesIn, type RunSettings, renamed } from '../../train/config/setting-objects.ts';
import { type Definition, isFileReference, loadDefinition } from '../load/definitions.ts';
import { definitionInCode, definitionLost, dottedFile, notOfKind } from './definition-refusals.ts';
import { objectOf } from './object-of.ts';

const CODE = 'code:';

/** Whether an assignment to a group gives the name in it: `turns=until-void` for `turns.name=until-void`. */
export const isNameAlone = (key: string, value: string): boolean =>
  isNamingKey(`${key}.name`) && key !== 'objective' && !value.startsWith('{');

export class Naming {
  readonly #given: readonly Definition[];
  readonly #run: string | undefined;
  catalogue: Catalogue = builtIns;
  /** What its author calls each, by its name in the run. */
  readonly called: Map<string, string> = new Map();

  constructor(given: readonly Definition[] = [], run?: string) {
    this.#given = given;
    this.#run = run;
  }

  async settings(settings: RunSettings): Promise<TrainSettings> {
    const names: unknown[] = [];
    for (const [key, value] of namesIn(settings)) names.push(await this.name(key, value));
    let next = 0;
    return renamed(settings, () => names[next++]);
  }

  /** The value of an assignment. */
  async text(key: string, value: string): Promise<string> {
    if (/^(credit\.shape|curation)\.[./\\]/.test(key)) throw dottedFile(key, value);
    if (key === 'credit.shape' || key === 'curation') {
      const entries = objectOf(value);
      return entries === undefined ? value : JSON.stringify(await this.#keys(key, entries));
    }
    return isNamingKey(key) ? ((await this.name(key, value)) as string) : value;
  }

  /** Options by the names of what their keys name, in the order of the keys. */
  async #keys(
    key: 'credit.shape' | 'curation',
    given: Readonly<Record<string, unknown>>,
  ): Promise<Record<string, Json>> {
    const named: [string, Json][] = [];
    for (const [name, options] of Object.entries(given))
      named.push([(await this.name(key, name)) as string, options as Json]);
    // An assignment to `__proto__` would lose that name, which is to be refused.
    return Object.fromEntries(named);
  }

  /** What the setting `key` is called in `config.json`. */
  async name(key: NamingKey, value: unknown): Promise<unknown> {
    const kind = NAMING_KEYS[key];
    if (typeof value !== 'string') {
      if (!isSettingDefinition(kind, value)) throw notOfKind(key, kind, value);
      return this.#add(kind, `${CODE}${definitionName(value)}`, value);
    }
    if (value.startsWith(CODE)) {
      const found = this.#given.find(
        (one): one is SettingDefinition =>
          isSettingDefinition(kind, one) && CODE + definitionName(one) === value,
      );
      if (found === undefined) throw definitionInCode(kind, value.slice(CODE.length), this.#run);
      return this.#add(kind, value, found);
    }
    if (!isFileReference(value)) return value;
    const { value: definition, source } = await this.#load(kind, value);
    return this.#add(kind, source, definition, ` of ${source}`);
  }

  async #load(kind: SettingKind, reference: string): ReturnType<typeof loadDefinition<SettingKind>> {
    try {
      return await loadDefinition(kind, reference);
    } catch (error) {
      if (this.#run === undefined || !TurnwiseError.isInstance(error)) throw error;
      throw definitionLost(kind, reference, this.#run, error);
    }
  }

  #add(kind: SettingKind, name: string, definition: SettingDefinition, place?: string): string {
    this.called.set(name, definitionName(definition));
    this.catalogue = withDefinition(this.catalogue, kind, name, definition, place);
    return name;
  }
}
