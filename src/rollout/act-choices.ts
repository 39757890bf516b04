/** The completions among which an act can be chosen, and why it is free where it cannot. */

import type { Json } from '../core/json/json.ts';
import { Rng } from '../core/rng.ts';
import { choiceIds, longestOf } from '../policy/choices.ts';
import { Boundary, EpisodeEnd } from './boundary.ts';
import type { EpisodeOptions } from './episode-options.ts';
import { GuardedSession } from './guard/guarded-session.ts';

export type ActChoices =
  | { readonly texts: readonly string[]; readonly longest: number }
  | { readonly free: string };

/** At the present place of a session. @throws EpisodeEnd where the environment's code fails */
export function actChoices(
  session: GuardedSession,
  { context, renderer }: Pick<EpisodeOptions, 'context' | 'renderer'>,
): ActChoices {
  if (context.strategy.answer) return { free: 'the context has tools of its own' };
  const legal = session.completions();
  if ('free' in legal) return legal;
  const ids = choiceIds(legal.texts, renderer);
  if (ids === undefined) return { free: 'the model’s words cannot tell all legal actions apart' };
  return { texts: legal.texts, longest: longestOf(ids) };
}

/** Looked at where an episode of this task begins, in a session that nobody plays. */
export async function firstChoices(
  task: Json,
  {
    world,
    context,
    renderer,
    turnTimeoutMs,
    signal,
    watch,
  }: Pick<EpisodeOptions, 'world' | 'context' | 'renderer' | 'turnTimeoutMs' | 'signal' | 'watch'>,
): Promise<ActChoices> {
  const boundary = new Boundary(signal, watch, !world.pure);
  const place = `the beginning of an episode of ${world.name}`;
  let session: GuardedSession | undefined;
  try {
    session = await GuardedSession.open(
      { task, rng: Rng.of('first choices') },
      { world, boundary, timeoutMs: turnTimeoutMs, place },
    );
    return actChoices(session, { context, renderer });
  } catch (error) {
    if (!(error instanceof EpisodeEnd)) throw error;
    return { free: error.message };
  } finally {
    await session?.close();
    boundary.close();
  }
}
