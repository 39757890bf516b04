/** Errors for what settings name and a run cannot have. */

import { DEFINITION_WORDS, kindOf } from '../../core/definition.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { valueText } from '../../core/safe-text.ts';
import type { SettingKind } from '../../train/config/setting-definitions.ts';
import { withArticle } from '../load/load-export.ts';

export function dottedFile(key: string, value: string): TurnwiseError {
  const group = key.startsWith('curation') ? 'curation' : 'credit.shape';
  const file = /^(.*?\.[cm]?[jt]sx?)(?:\.|$)/.exec(key.slice(group.length + 1))?.[1] ?? './mine.ts';
  return new TurnwiseError('setting-syntax', {
    what: 'The path of a file cannot be part of a key, since dots divide keys',
    seen: `--set ${key}=${value}`,
    allowed: `--set '${group}={"${file}":{}}', with the options inside`,
    fields: { key },
  });
}

export function notOfKind(key: string, kind: SettingKind, value: unknown): TurnwiseError {
  const { noun, maker } = DEFINITION_WORDS[kind];
  const other = kindOf(value);
  return new TurnwiseError('config-invalid', {
    what: `"${key}" is not ${withArticle(noun)}`,
    seen: other === undefined ? valueText(value) : withArticle(DEFINITION_WORDS[other].noun),
    allowed: `a name, a file, or what ${maker} returns`,
    fields: { key },
  });
}

export function definitionInCode(kind: SettingKind, name: string, run = 'NAME'): TurnwiseError {
  const { noun } = DEFINITION_WORDS[kind];
  return new TurnwiseError('definition-in-code', {
    what: `${run === 'NAME' ? 'This' : `Run "${run}"`} was trained with the ${noun} "${name}", an object made in code, which cannot be loaded from here`,
    next: `Go on in that program with resume('${run}', { definitions: [...] }), or define it in a file`,
    fields: { definition: name },
  });
}

/** The recipe of a run that exists was changed so that it does not bring the definition along any more. */
export function ownDefinitionLost(
  kind: SettingKind,
  name: string,
  recipe: string,
  run: string,
): TurnwiseError {
  const { noun } = DEFINITION_WORDS[kind];
  return new TurnwiseError('definition-lost', {
    what: `Run "${run}" was trained with the ${noun} "${name}" of its recipe, which "${recipe}" no longer has in its settings`,
    next: 'Put it back there, then run the same command again',
    fields: { run, definition: name },
  });
}

/** The file of a run that exists was moved, or changed so that it does not have the definition any more. */
export function definitionLost(
  kind: SettingKind,
  source: string,
  run: string,
  cause: TurnwiseError,
): TurnwiseError {
  return new TurnwiseError('definition-lost', {
    what: `Run "${run}" was trained with the ${DEFINITION_WORDS[kind].noun} of ${source}, which cannot be loaded any more: ${cause.message.replace(/\.$/, '')}`,
    next: 'Restore the file, then run the same command again',
    fields: { run, path: source },
    cause,
  });
}
