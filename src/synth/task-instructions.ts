/** What a model that can read is told of a task: what it is, how an action is written, and which actions there are. */

import type { Group } from '../core/episode.ts';
import type { World } from '../env/world.ts';
import { callsOf } from './demonstrations.ts';

/** More would teach nothing new, and every episode reads them again. */
const MOST_EXAMPLES = 64;

/**
 * The system message for `world`, with the actions seen in `demonstrations` as examples. Empty where the environment opens
 * with a system message of its own: then it has said what it wants to say.
 */
export function taskInstructions(world: World, demonstrations: readonly Group[]): string {
  const calls = demonstrations.flatMap(callsOf);
  if (calls.some(({ messages }) => messages[0]?.role === 'system')) return '';
  const counts = new Map<string, number>();
  for (const { text } of calls) {
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const order = new Intl.Collator('en', { numeric: true });
  const commonest = [...counts].sort(([a, m], [b, n]) => n - m || order.compare(a, b)).map(([text]) => text);
  const examples = commonest.slice(0, MOST_EXAMPLES).sort(order.compare);
  return [
    world.description,
    world.protocol.instructions ?? 'Answer with your action alone, and nothing else.',
    ...(examples.length === 0 ? [] : [`Actions are, for example: ${examples.join(', ')}`]),
  ].join('\n');
}
