/** What an agent did between its calls: a transition closes each of its acts, in order of time. */

import type { Call, Transition } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import type { StepMetrics } from '../../env/scores/metrics.ts';
import { AGENT } from '../../env/session.ts';
import { ACT } from './purpose.ts';

/** How the session ended, or what is known of it so far. */
export interface AgentEnd {
  readonly reward?: number;
  readonly metrics?: StepMetrics;
  readonly info?: Json;
  /** When, on the clock of the calls. */
  readonly at: number;
}

/** The milliseconds at which a call was answered. */
export const answeredAt = ({ at, waitMs, policyMs }: Call): number => at + waitMs + policyMs;

/**
 * The transitions of a session. The final reward, and what else the agent said of its result, lie on the last in time; where
 * the agent never acted, on one of its own.
 */
export function transitionsOf(
  calls: readonly { readonly call: Call; readonly anchor: string; readonly hidden?: true }[],
  { reward = 0, metrics, info, at }: AgentEnd,
): Transition[] {
  const acts = calls
    .filter(({ call, hidden }) => call.purpose === ACT && !hidden)
    .sort((a, b) => answeredAt(a.call) - answeredAt(b.call) || a.call.id - b.call.id);
  const asked = calls.map(({ call }) => call.at).sort((a, b) => a - b);
  let next = 0;
  const transitions = acts.map(({ call, anchor }): Transition => {
    const answered = answeredAt(call);
    while (next < asked.length && asked[next]! < answered) next++;
    return {
      call: call.id,
      role: AGENT,
      anchor,
      action: call.text,
      valid: call.problem === undefined,
      rewards: { [AGENT]: 0 },
      at: answered,
      environmentMs: Math.max(0, (asked[next] ?? at) - answered),
    };
  });
  const said = {
    rewards: { [AGENT]: reward },
    ...(metrics && { metrics }),
    ...(info !== undefined && { notes: { info } }),
  };
  const last = transitions.pop();
  if (last) return [...transitions, { ...last, ...said }];
  if (reward === 0 && info === undefined && metrics === undefined) return [];
  return [{ role: AGENT, anchor: '', action: '', valid: true, ...said, at, environmentMs: 0 }];
}
