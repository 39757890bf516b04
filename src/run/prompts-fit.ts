/** Prompts that are longer than a pretrained model's context are found before anything is computed. */

import type { Group } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import { callsOf } from '../synth/demonstrations.ts';
import { renderDemonstrations } from '../synth/render-calls.ts';
import type { Learner } from '../train/kit/learner.ts';
import type { StoredEvent } from '../train/loop/events.ts';

/**
 * Refuses a context into which no first turn fits, and warns of one that ends episodes early. Judged by demonstrations, where
 * there are any.
 *
 * @throws TurnwiseError `context-too-short`
 */
export function requirePromptsToFit(
  { card, renderer, engine, world }: Pick<Learner, 'card' | 'renderer' | 'engine' | 'world'>,
  demonstrations: readonly Group[],
): readonly StoredEvent[] {
  if ('words' in card) return [];
  const { contextLength } = engine.capabilities;
  const episodes = demonstrations.map((group) => callsOf(renderDemonstrations(group, renderer)));
  const firsts = episodes.flatMap(([call]) => (call ? [call.context.length] : []));
  if (firsts.length === 0) return [];
  const shortest = Math.min(...firsts);
  const enough = (tokens: number): number => 64 * Math.ceil((tokens + renderer.maxTurnTokens) / 64);
  if (shortest >= contextLength)
    throw new TurnwiseError('context-too-short', {
      what: `The first prompt of ${world.name} does not fit into the context of the model`,
      seen: `${shortest} tokens, and a context of ${contextLength}`,
      next: `Set chat.contextLength=${enough(shortest)} if the model reads as much, or shorten chat.system`,
      fields: { environment: world.name },
    });
  // Tokens that an episode's calls add to one path; a context that drops some of them begins paths of its own.
  const lengths = episodes.map((calls) =>
    calls.reduce(
      (length, call) =>
        (call.parent === undefined ? 0 : (call.kept ?? length)) + call.context.length + call.ids.length,
      0,
    ),
  );
  const cut = lengths.filter((length) => length > contextLength).length;
  if (cut === 0) return [];
  return [
    {
      type: 'warning',
      code: 'context-short',
      message: `${cut} of ${lengths.length} demonstrated episodes of ${world.name} do not fit into the context of ${contextLength} tokens (the longest has ${Math.max(...lengths)}): such episodes end early, and are not imitated. Try --set chat.contextLength=${enough(Math.max(...lengths))}, or context=latest`,
    },
  ];
}
