/** Models that other programs have downloaded, by the names that these programs give them. */

import type { HubEnvironment } from '../hub/hub-cache.ts';
import { lmStudioModel, notInLmStudio } from './lm-studio.ts';
import { notInOllama, ollamaModel } from './ollama.ts';

const PROGRAM = /^(ollama|lmstudio):(.+)$/;

/**
 * The GGUF file that `ollama:NAME` or `lmstudio:PUBLISHER/REPOSITORY` names, or that one of them has under the bare name;
 * undefined where none has.
 *
 * @throws TurnwiseError `model-unknown` where a program is named and has no such model, `model-ambiguous`,
 * `model-unsupported`, `model-file-invalid`, `checkpoint-missing`
 */
export function findLocal(environment: HubEnvironment, reference: string): string | undefined {
  const [, program, name] = PROGRAM.exec(reference) ?? [];
  if (name === undefined) return lmStudioModel(environment, reference) ?? ollamaModel(environment, reference);
  const found = program === 'ollama' ? ollamaModel(environment, name) : lmStudioModel(environment, name);
  if (found !== undefined) return found;
  throw program === 'ollama' ? notInOllama(environment, name) : notInLmStudio(environment, name);
}
