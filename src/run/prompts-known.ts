/** A small model reads the words of its demonstrations; a prompt in other words would say nothing to it. */

import { TurnwiseError } from '../core/errors.ts';
import { Rng } from '../core/rng.ts';
import { UNKNOWN_ID, WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import type { Learner } from '../train/kit/learner.ts';

/** Draws of the first prompts that are looked at. */
const DRAWS = 64;

/**
 * Refuses first prompts with words that the model of a run does not know.
 *
 * @throws TurnwiseError `config-invalid`
 */
export function requireKnownPrompts({
  card,
  config,
  prompts,
}: Pick<Learner, 'card' | 'config' | 'prompts'>): void {
  if (!('words' in card)) return;
  const memory = prompts.start();
  const first = Array.from({ length: DRAWS }, (_, group) =>
    prompts.ask({ step: 1, group, memory, rng: Rng.of('known', config.seed, group) }),
  );
  const tokenizer = new WordTokenizer(card.words);
  const text = [...new Set([prompts.best(memory), ...first])].find((one) =>
    Array.from(tokenizer.encode(one)).includes(UNKNOWN_ID),
  );
  if (text === undefined) return;
  throw new TurnwiseError('config-invalid', {
    what: 'The small model does not know all words of a prompt: it learned its words from demonstrations',
    seen: text,
    allowed: `words of the environment, such as ${card.words.slice(4, 12).join(' ')}`,
    next: 'Use a model that can read already (--model), or words of the environment',
    fields: { key: 'prompts' },
  });
}
