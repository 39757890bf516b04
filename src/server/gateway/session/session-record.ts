/** A session after its end, or as it stands: what HTTP answers, what is kept, and the episode that it was. */

import type { ByRole, Call, Episode, EpisodeKey, Transition, Untrainable } from '../../../core/episode.ts';
import type { Json } from '../../../core/json/json.ts';
import type { ToolDeclaration } from '../../../core/messages.ts';
import type { StopReason } from '../../../core/stop.ts';
import { AGENT } from '../../../env/session.ts';
import type { ChatModel } from '../chat-model.ts';
import { LEARNER } from '../policy-model.ts';

export interface SessionRecord {
  readonly id: string;
  readonly status: 'open' | 'closed' | 'expired';
  readonly task?: Json;
  readonly reward?: number;
  readonly success?: boolean;
  readonly info?: Json;
  /** In the order of asking. */
  readonly calls: readonly Call[];
  /** In the order of time. */
  readonly transitions: readonly Transition[];
  /** What was declared, by the keys that calls have. */
  readonly tools: Readonly<Record<string, readonly ToolDeclaration[]>>;
  /** How many calls are not trained on, by reason. */
  readonly untrainable: Readonly<Partial<Record<Untrainable, number>>>;
  /** How many calls had a parameter that changed nothing, by its name. */
  readonly ignored: Readonly<Record<string, number>>;
}

export interface EpisodeAbout {
  readonly key: EpisodeKey;
  /** Of the weights, when the episode began. */
  readonly version: number;
  /** Who plays which role. Default: the learner the one that there is. */
  readonly seats?: Episode['seats'];
  readonly stop: StopReason;
  readonly failure?: string;
}

/** The seats of an episode. Whoever answers sits in its role as the learner would, unless it is a player of another name. */
export function seatsOf(models: readonly ChatModel[]): Episode['seats'] {
  const seats = models.map(({ role = AGENT, author, version }) => {
    const player = author.kind === 'policy' ? author.name : LEARNER;
    return [role, { player, version }] as const;
  });
  return Object.fromEntries(seats);
}

export function episodeOf(
  { task = null, calls, transitions, tools, reward = 0, success }: SessionRecord,
  { key, version, seats = { [AGENT]: { player: LEARNER, version } }, stop, failure }: EpisodeAbout,
): Episode {
  const ofRoles = <T>(value: (role: string) => T): ByRole<T> =>
    Object.fromEntries(Object.keys(seats).map((role) => [role, value(role)]));
  return {
    key,
    task,
    calls,
    transitions,
    tools,
    seats,
    outcome: ofRoles((role) => transitions.reduce((sum, { rewards }) => sum + (rewards[role] ?? 0), 0)),
    success: ofRoles(() => success ?? reward > 0),
    stop,
    ...(failure !== undefined && { failure }),
  };
}

export function countUntrainable(calls: readonly Call[]): Partial<Record<Untrainable, number>> {
  const counts: Partial<Record<Untrainable, number>> = {};
  for (const { trainable } of calls) {
    if (trainable !== true) counts[trainable] = (counts[trainable] ?? 0) + 1;
  }
  return counts;
}
