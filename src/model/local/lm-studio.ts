/** Models that LM Studio has downloaded: `~/.lmstudio/models/<publisher>/<repository>/*.gguf`. */

import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { HubEnvironment } from '../hub/hub-cache.ts';
import { ggufNames, onlyOne } from './gguf-in-folder.ts';

function modelsFolder({ HOME }: HubEnvironment): string {
  return join(HOME || homedir(), '.lmstudio', 'models');
}

/** `publisher/repository`, or with the name of a file. */
const NAME = /^([\w-][\w.-]*)\/([\w-][\w.-]*)(?:\/([\w-][\w.-]*\.gguf))?$/;

/**
 * The GGUF file of the model of this name; undefined where there is none.
 * @throws TurnwiseError `model-ambiguous` where there are several quantisations and none is named
 */
export function lmStudioModel(environment: HubEnvironment, name: string): string | undefined {
  const [, publisher, repository, file] = NAME.exec(name) ?? [];
  if (publisher === undefined || repository === undefined) return undefined;
  const folder = join(modelsFolder(environment), publisher, repository);
  if (!existsSync(folder)) return undefined;
  const names = ggufNames(folder);
  if (file !== undefined) return names.includes(file) ? join(folder, file) : undefined;
  if (names.length === 0) return undefined;
  return join(folder, onlyOne(names, folder, `lmstudio:${name}`));
}

/** That there is no such model, and which ones there are. */
export function notInLmStudio(environment: HubEnvironment, name: string): TurnwiseError {
  const root = modelsFolder(environment);
  const list = (path: string): string[] => (existsSync(path) ? readdirSync(path).sort() : []);
  const names = list(root).flatMap((publisher) =>
    list(join(root, publisher)).map((repository) => `${publisher}/${repository}`),
  );
  return new TurnwiseError('model-unknown', {
    what: `LM Studio has no model "${name}" here`,
    seen: names.length === 0 ? `none in ${root}` : names.join(', '),
    allowed: 'publisher/repository, or publisher/repository/FILE.gguf',
    next: 'Download it in LM Studio, or name a GGUF file',
    fields: { model: name },
  });
}
