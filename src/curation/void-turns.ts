/**
 * Void turns: turns that wrote something, but no action that the environment could use.
 *
 * SimpleTIR, arXiv 2509.02479, takes an episode with such a turn out of the loss and leaves its reward in the baseline. It also
 * ends there: the turn control `until-void`.
 * 1. In the paper a turn is void without a code block or an answer; here, where the environment could not use what it wrote.
 */

import type { Episode, Role } from '../core/episode.ts';
import { actOf, roleGroups, type Trajectory } from '../core/trajectory.ts';
import { type DefinedCuration, defineCuration } from './curation.ts';

export const voidTurns: DefinedCuration = defineCuration({
  name: 'void-turns',
  summary: 'an episode with a turn without a usable action sets baselines and is not learned from',
  choose(groups) {
    const roles = new Map<Episode, Role[]>();
    for (const { role, members } of roleGroups(groups)) {
      for (const trajectory of members.filter(hasVoidTurn)) {
        roles.set(trajectory.episode, [...(roles.get(trajectory.episode) ?? []), role]);
      }
    }
    const isVoid = (episode: Episode, role: Role): boolean => roles.get(episode)?.includes(role) ?? false;
    return { choice: (episode, role) => ({ inBaseline: true, inLoss: !isVoid(episode, role), weight: 1 }) };
  },
});

export function hasVoidTurn({ turns }: Pick<Trajectory, 'turns'>): boolean {
  return turns.some((turn) => actOf(turn)?.trainable === true && !turn.transition?.valid);
}
