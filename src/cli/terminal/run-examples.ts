/** Two stored evaluation episodes of one task, before and after: chosen so that they show what was learned. */

import type { Group } from '../../core/episode.ts';
import { actOf, roleGroups, type Trajectory } from '../../core/trajectory.ts';
import type { Episode } from '../../show/episode-text.ts';
import { evaluationShard } from '../../store/rollouts/shard-names.ts';
import type { RunDirectory } from '../../store/run-directory.ts';

/** A task that the warm start failed and the trained policy solved, where there is one; otherwise the first task. */
export async function runExamples(
  run: RunDirectory,
): Promise<{ readonly before: Episode; readonly after: Episode } | undefined> {
  const steps = run.readRollouts().index.evaluationSteps();
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  const [before, after] = [await evaluated(run, first), await evaluated(run, last)];
  const pairs = before.flatMap((episode) => {
    const { group } = episode.episode.key;
    const later = after.find((other) => other.episode.key.group === group && other.role === episode.role);
    return later && episode.turns.length > 0 && later.turns.length > 0
      ? [{ before: shown(episode), after: shown(later) }]
      : [];
  });
  return pairs.find((pair) => !pair.before.success && pair.after.success) ?? pairs[0];
}

async function evaluated(run: RunDirectory, step: number): Promise<Trajectory[]> {
  const groups: Group[] = [];
  for await (const group of run.readRollouts().evaluation(evaluationShard(step), 'sampled'))
    groups.push(group);
  return roleGroups(groups).flatMap(({ members }) => members);
}

/** One role of an episode, for people. */
export function shown({ turns, outcome, success, stop, episode, role }: Trajectory): Episode {
  const closing = episode.closing?.[role];
  return {
    turns: turns.map((turn) => ({
      messages: turn.calls.flatMap(({ messages }) => messages),
      text: actOf(turn)?.text ?? turn.transition?.action ?? '',
      reward: turn.reward,
      valid: turn.transition?.valid ?? true,
    })),
    outcome,
    success,
    stop,
    ...(closing && { closing }),
  };
}
