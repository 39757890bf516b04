/** Groups of random calls and transitions: paths that fork, windows, other roles and players, branches of branches. */

import type { Call, Episode, Group, Transition } from '../episode.ts';
import { keyText } from '../episode-key.ts';
import { Rng } from '../rng.ts';
import { madeCall, madeEpisode, madeGroup, madeKey, madeTransition } from './made-episodes.ts';

export interface RandomGroup {
  readonly group: Group;
  /** What each call was fed, token by token, by episode and id of the call; those of the prefix included. */
  readonly prompts: ReadonlyMap<string, ReadonlyMap<number, readonly number[]>>;
}

export const ROLES = ['agent', 'critic'] as const;

interface Played {
  readonly calls: Call[];
  readonly transitions: Transition[];
  readonly prompts: Map<number, readonly number[]>;
}

/** No two sampled tokens of a group are the same. */
export function randomGroup(seed: number, members: number): RandomGroup {
  const rng = Rng.of('random group', seed);
  const episodes: Episode[] = [];
  const whole: Played[] = [];
  const tokens = { next: 1 };
  for (let member = 0; member < members; member++) {
    const from = member > 0 && rng.chance(0.6) ? branchOf(rng, episodes, whole) : undefined;
    const past = from?.past ?? { calls: [], transitions: [], prompts: new Map() };
    const played = goOn(rng, past, 1 + rng.int(5), tokens);
    whole.push(played);
    const scores = rng.chance(0.3) ? [{ by: 'judge', rewards: { agent: 0.5 } }] : [];
    episodes.push(
      madeEpisode(
        member,
        played.calls.slice(past.calls.length),
        played.transitions.slice(past.transitions.length),
        {
          scores,
          outcome: Object.fromEntries(
            ROLES.map((role) => [role, earned([...played.transitions, ...scores], role)]),
          ),
          ...(from && {
            branchedFrom: {
              episode: from.origin.key,
              transition: past.transitions.length - 1,
              calls: past.calls.length,
            },
          }),
        },
      ),
    );
  }
  return {
    group: madeGroup(...episodes),
    prompts: new Map(whole.map(({ prompts }, member) => [keyText(madeKey({ member })), prompts])),
  };
}

const earned = (of: readonly { readonly rewards: Readonly<Record<string, number>> }[], role: string) =>
  of.reduce((sum, { rewards }) => sum + (rewards[role] ?? 0), 0);

/** A place in one of the episodes, with all that led to it. */
function branchOf(rng: Rng, episodes: readonly Episode[], whole: readonly Played[]) {
  const member = rng.int(episodes.length);
  const { calls, transitions, prompts } = whole[member]!;
  if (transitions.length === 0) return undefined;
  const shared = transitions.slice(0, 1 + rng.int(transitions.length));
  const made = Math.max(0, ...shared.map(({ call = -1 }) => call + 1));
  return {
    origin: episodes[member]!,
    past: {
      calls: calls.slice(0, made),
      transitions: shared,
      prompts: new Map([...prompts].filter(([id]) => id < made)),
    },
  };
}

function goOn(rng: Rng, past: Played, count: number, tokens: { next: number }): Played {
  const calls = [...past.calls];
  const transitions = [...past.transitions];
  const prompts = new Map(past.prompts);
  const draw = (length: number): number[] => Array.from({ length }, () => tokens.next++);
  for (let made = 0; made < count; made++) {
    const id = calls.length;
    const parent = id > 0 && rng.chance(0.8) ? rng.pick(calls) : undefined;
    const read = parent ? [...prompts.get(parent.id)!, ...parent.ids] : [];
    const kept = parent && rng.chance(0.3) ? rng.int(read.length + 1) : undefined;
    const context = draw(rng.int(3));
    const role = rng.pick(ROLES);
    calls.push(
      madeCall(id, draw(rng.int(4)), {
        role,
        conversation: rng.pick(['a', 'b']),
        context,
        ...(parent && { parent: parent.id }),
        ...(kept !== undefined && { kept, newPath: 'dropped' }),
        ...(rng.chance(0.2) && { trainable: 'scripted' }),
      }),
    );
    prompts.set(id, [...read.slice(0, kept ?? read.length), ...context]);
    if (rng.chance(0.2)) transitions.push(madeTransition(undefined, rng.int(3), { role: rng.pick(ROLES) }));
    const named = new Set(transitions.map(({ call }) => call));
    const free = calls.filter((call) => !named.has(call.id) && call.id >= past.calls.length);
    // Sub-agents may end in another order than they began.
    if (free.length > 0 && rng.chance(0.7)) {
      const { id: call, role: by } = rng.pick(free);
      transitions.push(madeTransition(call, 0, { role: by, rewards: { [rng.pick(ROLES)]: rng.int(5) - 2 } }));
    }
  }
  return { calls, transitions, prompts };
}
