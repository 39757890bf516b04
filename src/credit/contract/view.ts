/** What credit methods read of a group: the trajectories of a role, as little of them as credit needs. */

import type { Group, Role } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import type { Facts, TrajectoryFacts, TurnFacts } from '../../core/facts.ts';
import { roleGroups, sampledTokens, type Trajectory, type Turn } from '../../core/trajectory.ts';
import type { CreditTrajectory, CreditTurn } from '../report/rollouts.ts';

/**
 * The trajectories of one role of a group, in the order of the members; roles that did nothing have none. Of stored episodes,
 * with what was scored about their tokens when they were learned from.
 */
export function creditView(group: Group, role: Role): CreditTrajectory[] {
  return roleGroups([group])
    .filter((roles) => roles.role === role)
    .flatMap(({ members }) => members)
    .filter(({ turns }) => turns.length > 0)
    .map((trajectory) => creditTrajectory(trajectory, 1, storedScores(trajectory)));
}

/** What was scored about the tokens of a turn, what is added to its reward, and what else was found out about it. */
export interface TurnScores {
  readonly values?: readonly number[];
  readonly entropies?: readonly number[];
  readonly bonus?: number;
  /** These win over those of the environment. */
  readonly facts?: TurnFacts;
}

/** What was scored about the tokens of a stored trajectory when it was learned from. */
export function storedScores({ episode, role, turns }: Trajectory): TurnScores[] {
  const { values, entropies, facts_K } = episode.credit?.[role] ?? {};
  let end = 0;
  return turns.map((turn, k) => {
    const first = end;
    const facts = facts_K?.[k];
    end += sampledTokens(turn);
    return {
      ...(facts && { facts }),
      ...(values && { values: values.slice(first, end) }),
      ...(entropies && { entropies: entropies.slice(first, end) }),
    };
  });
}

/** @param rewardScale rewards, and facts that are rewards, are multiplied by it */
export function creditTrajectory(
  trajectory: Trajectory,
  rewardScale = 1,
  scores_K: readonly TurnScores[] = [],
): CreditTrajectory {
  const { id, groupId, role, episode, outcome, success, stop, parent, sharedTurns, absentOutcome } =
    trajectory;
  const bonus = scores_K.reduce((sum, scores) => sum + (scores.bonus ?? 0), 0);
  return {
    id,
    groupId,
    role,
    episode: keyText(episode.key),
    outcome: outcome * rewardScale + bonus,
    success,
    turns: trajectory.turns.map((turn, k) => creditTurn(turn, rewardScale, scores_K[k])),
    ...(absentOutcome !== undefined && { absentOutcome: absentOutcome * rewardScale }),
    ...(parent !== undefined && { parent, sharedTurns: sharedTurns ?? 0 }),
    ...((stop === 'token-limit' || stop === 'context-overflow') && { overlong: true }),
    ...Object.assign(
      {},
      ...trajectory.turns.map(({ transition }) => factsOf('trajectory', transition?.facts)),
    ),
  };
}

function creditTurn(
  turn: Turn,
  rewardScale: number,
  { values, entropies, bonus = 0, facts: found }: TurnScores = {},
): CreditTurn {
  const told: TurnFacts = factsOf('turn', turn.transition?.facts);
  const facts = found ? { ...told, ...found } : told;
  const { dense, counterfactual } = facts;
  const attempt = turn.transition?.attempt;
  return {
    reward: turn.reward * rewardScale + bonus,
    tokens: sampledTokens(turn),
    anchor: turn.transition?.anchor ?? '',
    valid: turn.transition?.valid ?? true,
    ...(attempt !== undefined && { attempt }),
    ...facts,
    ...(dense && { dense: dense.map((reward) => reward * rewardScale) }),
    ...(counterfactual !== undefined && { counterfactual: counterfactual * rewardScale }),
    ...(values && { values }),
    ...(entropies && { entropies }),
  };
}

const OF_TRAJECTORY: ReadonlySet<string> = new Set<keyof TrajectoryFacts>([
  'game',
  'entityShare',
  'goldenCalls',
  'neededCalls',
  'mode',
]);

/** Those of a turn, or of its trajectory. A loop, because a pattern with a rest takes a hundred times as long. */
function factsOf(what: 'turn' | 'trajectory', facts: Facts = {}): Facts {
  const found: Record<string, unknown> = {};
  for (const [name, fact] of Object.entries(facts)) {
    if (fact !== undefined && OF_TRAJECTORY.has(name) === (what === 'trajectory')) found[name] = fact;
  }
  return found;
}
