/** What can be chosen by name: built-in entries, and those of a user beside them. */

import { DEFINITION_WORDS, type DefinitionKind } from './definition.ts';
import { type ErrorParts, nearest, type TurnwiseError } from './errors.ts';

export interface Named {
  readonly name: string;
  readonly aliases?: readonly string[];
}

export interface RegistryWords {
  /** What the entries are: `credit method`. */
  readonly noun: string;
  /** The field of an error that holds the name. */
  readonly field: string;
  /** Whether case and hyphens make no difference. */
  readonly lenient?: boolean;
  unknown(parts: ErrorParts): TurnwiseError;
}

/** Immutable, so that one run never sees what another one added. */
export interface Registry<Entry extends Named> {
  readonly all: readonly Entry[];
  /** The entry of that name or alias. */
  get(name: string): Entry | undefined;
  /** The same, or an error that names the nearest. */
  find(name: string): Entry;
  /** A registry that has this entry too, under this name. */
  with(name: string, entry: Entry): Registry<Entry>;
}

/** Definitions of a kind, which settings and errors name as the kind itself. */
export function definitionRegistry<Entry extends Named>(
  kind: DefinitionKind,
  unknown: RegistryWords['unknown'],
  all: readonly Entry[],
): Registry<Entry> {
  return createRegistry({ noun: DEFINITION_WORDS[kind].noun, field: kind, unknown }, all);
}

export function createRegistry<Entry extends Named>(
  words: RegistryWords,
  all: readonly Entry[],
): Registry<Entry> {
  const plain = (name: string): string =>
    words.lenient ? name.toLowerCase().replaceAll(/[-_ ]/g, '') : name;
  const get = (name: string): Entry | undefined =>
    all.find((entry) => entry.name === name) ??
    all.find((entry) => [entry.name, ...(entry.aliases ?? [])].some((own) => plain(own) === plain(name)));
  return {
    all,
    get,
    find(name) {
      const found = get(name);
      if (found) return found;
      const names = all.map((entry) => entry.name);
      const near = nearest(name, names);
      throw words.unknown({
        what: `There is no such ${words.noun}`,
        seen: `"${name}"`,
        allowed: names.join(', '),
        ...(near !== undefined && { next: `Did you mean "${near}"?` }),
        fields: { [words.field]: name },
      });
    },
    with: (name, entry) =>
      createRegistry(words, [...all.filter((own) => own.name !== name), { ...entry, name }]),
  };
}
