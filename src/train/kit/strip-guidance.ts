/**
 * Guided episodes as they are learned from: what was said to help is left out of their prompts, which is what the policy will read
 * when nobody helps it. To learn from them is to distil what the guidance brought about.
 *
 * 1. Completions stay as they were sampled, id for id. Only prompts are made again, of the same messages without those.
 * 2. The sampler wrote its log-probabilities down behind the guidance, so they are not those of the new rows. The policy reads these
 *    before its update, and what it says stands in their place: a ratio begins at 1, and a penalty compares like with like. A ratio to the
 *    guided policy would be exact, and next to nothing for all that only guidance made likely.
 * 3. An episode whose prompts cannot be made again as they were (an agent's, whose template was told more than the record says), or
 *    whose environment says the very same later, is learned from as it was sampled.
 */

import type { Call } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { samplesOfTrajectory } from '../../core/sample.ts';
import type { RoleGroup, Trajectory } from '../../core/trajectory.ts';
import { scoredRows } from '../../engine/token-batch.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import { renderCalls } from '../../synth/render-calls.ts';
import type { Metrics } from '../loop/events.ts';
import type { Learner } from './learner.ts';

type Reader = Pick<Learner, 'renderer' | 'engine' | 'config'>;

/** The trajectories, guided ones without what guided them. */
export async function withoutGuidance<T extends Trajectory>(
  { renderer, engine, config }: Reader,
  trajectories: readonly T[],
): Promise<T[]> {
  const stripped = trajectories.map((trajectory) => strip(trajectory, renderer));
  const samples = stripped.flatMap((trajectory) => (trajectory ? samplesOfTrajectory(trajectory) : []));
  if (samples.length === 0) return [...trajectories];
  const { logprobs } = await engine.score(scoredRows(samples), { temperature: config.rollout.temperature });
  let next = 0;
  return trajectories.map((trajectory, index) => {
    const own = stripped[index];
    if (!own) return trajectory;
    const byCall = new Map<number, number[]>();
    for (const { call_T } of samplesOfTrajectory(own)) {
      const logprobs_T = logprobs[next++]!;
      for (const [token, call] of call_T.entries()) {
        if (call >= 0) byCall.set(call, [...(byCall.get(call) ?? []), logprobs_T[token]!]);
      }
    }
    return withCalls(own, (call) => {
      const said = byCall.get(call.id);
      return said ? { ...call, logprobs: Float32Array.from(said) } : call;
    });
  });
}

/** The groups of a step, guided episodes without what guided them, and how many of these could be stripped. */
export async function strippedGroups(
  learner: Reader,
  groups: readonly RoleGroup[],
): Promise<{ readonly groups: readonly RoleGroup[]; readonly metrics: Metrics }> {
  const all = groups.flatMap(({ members }) => members);
  const guided = all.filter(({ episode }) => episode.stripped);
  if (guided.length === 0) return { groups, metrics: {} };
  const made = new Map((await withoutGuidance(learner, guided)).map((one, index) => [guided[index]!, one]));
  const changed = [...made].filter(([before, after]) => before !== after).length;
  return {
    groups: groups.map((group) => ({ ...group, members: group.members.map((one) => made.get(one) ?? one) })),
    metrics: { 'guidance/episodes': guided.length, 'guidance/stripped': changed },
  };
}

/** The trajectory with prompts without the guidance; undefined where there was none, or they cannot be made again. */
function strip<T extends Trajectory>(trajectory: T, renderer: Renderer): T | undefined {
  const { episode, calls } = trajectory;
  const { stripped = [], tools } = episode;
  if (stripped.length === 0) return undefined;
  const isTold = ({ role, content }: Message): boolean =>
    stripped.some((one) => one.role === role && one.content === content);
  if (!isToldOnce(calls, isTold)) return undefined;
  const record = { calls, tools };
  const again = renderCalls(record, renderer);
  if (!again.every((call, index) => isSamePrompt(call, calls[index]!))) return undefined;
  const own = renderCalls(record, renderer, undefined, (messages) => messages.filter((one) => !isTold(one)));
  const byId = new Map(own.map((call) => [call.id, call]));
  return withCalls(trajectory, ({ id }) => byId.get(id)!);
}

/** Whether each role was told in one call: what the environment says in the same words is no guidance. */
function isToldOnce(calls: readonly Call[], isTold: (message: Message) => boolean): boolean {
  const told = calls.filter(({ messages }) => messages.some(isTold)).map(({ role }) => role);
  return new Set(told).size === told.length;
}

function isSamePrompt(a: Call, b: Call): boolean {
  const isSame = a.parent === b.parent && a.kept === b.kept && a.context.length === b.context.length;
  return isSame && a.context.every((id, index) => id === b.context[index]);
}

function withCalls<T extends Trajectory>(trajectory: T, made: (call: Call) => Call): T {
  const calls = new Map(trajectory.calls.map((call) => [call.id, made(call)]));
  return {
    ...trajectory,
    calls: [...calls.values()],
    turns: trajectory.turns.map((turn) => ({ ...turn, calls: turn.calls.map(({ id }) => calls.get(id)!) })),
  };
}
