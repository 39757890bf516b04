/**
 * Definitions that a recipe brings along in its `settings`. A run knows each as `recipe:NAME`, and finds it again with the
 * recipe: so `config.json` keeps the name, and whoever loads the recipe has the definition.
 */

import { badDefinition, DEFINITION_WORDS, kindOf } from '../../core/definition.ts';
import { isPath } from '../../core/reference.ts';
import { valueText } from '../../core/safe-text.ts';
import { builtIns, type Catalogue } from './catalogue.ts';
import type { TrainSettings } from './config.ts';
import {
  definitionName,
  isSettingDefinition,
  NAMING_KEYS,
  type NamingKey,
  type SettingDefinition,
  type SettingKind,
  withDefinition,
} from './setting-definitions.ts';
import { type RunSettings, renamed } from './setting-objects.ts';

export const OWN = 'recipe:';

export interface OwnDefinition {
  readonly kind: SettingKind;
  readonly definition: SettingDefinition;
}

/** The part of a recipe that has its definitions. */
export interface WithOwn {
  readonly name: string;
  readonly own?: readonly OwnDefinition[];
}

/**
 * The settings of a recipe with a name for each definition in them.
 *
 * @param before those of a recipe that it is made of
 * @throws TurnwiseError `definition-invalid` for a definition of another kind, a file, or two of one name
 */
export function ownDefinitions(
  recipe: string,
  settings: RunSettings,
  before: readonly OwnDefinition[] = [],
): { readonly settings: TrainSettings; readonly own: readonly OwnDefinition[] } {
  const own = [...before];
  const refuse = (problem: string, seen: string, allowed: string): Error =>
    badDefinition(`Recipe "${recipe}"`, problem, seen, allowed);
  const name = (key: NamingKey, value: unknown): unknown => {
    const kind = NAMING_KEYS[key];
    const { noun, maker } = DEFINITION_WORDS[kind];
    if (typeof value === 'string') {
      if (!isPath(value)) return value;
      throw refuse(
        `names a file in its settings, under "${key}"`,
        value,
        `a name, or the ${noun} itself: import it from that file`,
      );
    }
    if (!isSettingDefinition(kind, value)) {
      const other = kindOf(value);
      const seen = other === undefined ? valueText(value) : DEFINITION_WORDS[other].noun;
      throw refuse(`has no ${noun} under "${key}"`, seen, `a name, or what ${maker} returns`);
    }
    const called = definitionName(value);
    const same = own.find((one) => one.kind === kind && definitionName(one.definition) === called);
    if (same === undefined) own.push({ kind, definition: value });
    else if (same.definition !== value)
      throw refuse(`brings two different definitions along: ${noun}`, `"${called}" twice`, 'different names');
    return OWN + called;
  };
  return { settings: renamed(settings, name), own };
}

/** The catalogue of a run with this recipe, which has what the recipe brings along. */
export function catalogueWith(recipe: WithOwn | undefined, catalogue: Catalogue = builtIns): Catalogue {
  const { name = '', own = [] } = recipe ?? {};
  return own.reduce(
    (known, { kind, definition }) =>
      withDefinition(known, kind, OWN + definitionName(definition), definition, ` of recipe "${name}"`),
    catalogue,
  );
}

/** Names of the settings that stand for definitions of a recipe which this one does not have. */
export function missingOwn(
  { own = [] }: WithOwn,
  settings: RunSettings,
): readonly { readonly kind: SettingKind; readonly name: string }[] {
  const missing: { kind: SettingKind; name: string }[] = [];
  renamed(settings, (key, value) => {
    if (typeof value !== 'string' || !value.startsWith(OWN)) return value;
    const [kind, name] = [NAMING_KEYS[key], value.slice(OWN.length)];
    const isThere = own.some((one) => one.kind === kind && definitionName(one.definition) === name);
    if (!isThere) missing.push({ kind, name });
    return value;
  });
  return missing;
}
