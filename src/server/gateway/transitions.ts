/** What an agent did between its calls: a transition closes each of its acts, in order of time. */

import type { Call, Role, Transition } from '../../core/episode.ts';
import type { Facts } from '../../core/facts.ts';
import type { Json } from '../../core/json/json.ts';
import type { StepMetrics } from '../../env/scores/metrics.ts';
import { AGENT } from '../../env/session.ts';
import { ACT } from './purpose.ts';

/** How the session ended, or what is known of it so far. */
export interface AgentEnd {
  /** Of each role. */
  readonly reward?: number;
  /** What single roles earned besides. */
  readonly rewards?: Readonly<Record<Role, number>>;
  readonly metrics?: StepMetrics;
  readonly info?: Json;
  /** When, on the clock of the calls. */
  readonly at: number;
}

/** The milliseconds at which a call was answered. */
export const answeredAt = ({ at, waitMs, policyMs }: Call): number => at + waitMs + policyMs;

/** What each role earned at the end. */
function endRewards(
  roles: readonly Role[],
  { reward = 0, rewards = {} }: Omit<AgentEnd, 'at'>,
): Record<Role, number> {
  return Object.fromEntries(roles.map((role) => [role, reward + (rewards[role] ?? 0)]));
}

/**
 * The transitions of a session. The final reward, and what else the agent said of its result, lie on the last in time; where
 * the agent never acted, on one of its own.
 *
 * @param along rewards along the way, by call: of its turn, or of the turn that a call which is no act belongs to
 * @param roles of the session, the first one first
 */
export function transitionsOf(
  calls: readonly {
    readonly call: Call;
    readonly anchor: string;
    readonly facts?: Facts;
    readonly hidden?: true;
  }[],
  end: AgentEnd,
  along: ReadonlyMap<number, number> = new Map(),
  roles: readonly Role[] = [AGENT],
): Transition[] {
  const { metrics, info, at } = end;
  const acts = calls
    .filter(({ call, hidden }) => call.purpose === ACT && !hidden)
    .sort((a, b) => answeredAt(a.call) - answeredAt(b.call) || a.call.id - b.call.id);
  const asked = calls.map(({ call }) => call.at).sort((a, b) => a - b);
  const earned = rewardsOfActs(
    acts.map(({ call }) => call),
    calls.map(({ call }) => call),
    along,
  );
  let next = 0;
  const transitions = acts.map(({ call, anchor, facts }): Transition => {
    const answered = answeredAt(call);
    while (next < asked.length && asked[next]! < answered) next++;
    return {
      call: call.id,
      role: call.role,
      anchor,
      action: call.text,
      valid: call.problem === undefined,
      rewards: { [call.role]: earned.get(call.id) ?? 0 },
      ...(facts && { facts }),
      at: answered,
      environmentMs: Math.max(0, (asked[next] ?? at) - answered),
    };
  });
  const said = {
    ...(metrics && { metrics }),
    ...(info !== undefined && { notes: { info } }),
  };
  const rewards = endRewards(roles, end);
  const last = transitions.pop();
  if (last) {
    rewards[last.role] = (rewards[last.role] ?? 0) + (last.rewards[last.role] ?? 0);
    return [...transitions, { ...last, rewards, ...said }];
  }
  const role = roles[0] ?? AGENT;
  for (const [named, value] of along) {
    const who = calls.find(({ call }) => call.id === named)?.call.role ?? role;
    rewards[who] = (rewards[who] ?? 0) + value;
  }
  const earnedAny = Object.values(rewards).some((value) => value !== 0);
  if (!earnedAny && info === undefined && metrics === undefined) return [];
  return [{ role, anchor: '', action: '', valid: true, rewards, ...said, at, environmentMs: 0 }];
}

/**
 * By act. A call that is no act belongs to the next act of its conversation, else to the next of its role, else to the last in time:
 * where its tokens are credited (`core/trajectory.ts`).
 */
function rewardsOfActs(
  acts: readonly Call[],
  calls: readonly Call[],
  along: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const byId = [...acts].sort((a, b) => a.id - b.id);
  const earned = new Map<number, number>();
  for (const [named, value] of along) {
    const call = calls.find(({ id }) => id === named);
    const ofRole = ({ role }: Call): boolean => role === call?.role;
    const later = byId.filter((act) => act.id >= named && ofRole(act));
    const own = later.find(({ conversation }) => conversation === call?.conversation);
    const act = later[0]?.id === named ? later[0] : (own ?? later[0] ?? acts.findLast(ofRole));
    if (act) earned.set(act.id, (earned.get(act.id) ?? 0) + value);
  }
  return earned;
}
