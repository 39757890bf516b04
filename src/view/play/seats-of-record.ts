/**
 * Who sat where in a recorded episode, and sits there again where it is gone on with: also whom a source of tasks seated for its
 * group, and an earlier self with the weights of then.
 */

import type { ByRole, Role } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { LEARNER } from '../../policy/engine-policy.ts';
import type { OpenedCheckpoint } from '../../run/open-checkpoint.ts';
import { readRunFile } from '../../run/settings/run-recipe.ts';
import { version } from '../../run/version.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Learner } from '../../train/kit/learner.ts';
import { type Recorded, unrecorded } from './recorded.ts';

/** What the setting `players` calls a player: `self@40` is `self`. */
const settingOf = (player: string, { players }: Pick<TrainConfig, 'players'>): string =>
  player in players ? player : player.replace(/@\d+$/, '');

/** The players that sat in an episode of the training, as the setting `players` of its run has them. */
export function playersIn(
  { label, episode: { seats } }: Recorded,
  { root, name }: { readonly root: string; readonly name: string },
): Record<string, string> {
  if (label !== 'training') return {};
  const { config } = readRunFile(RunDirectory.openForReading({ root, name, version }));
  const sat = new Set(Object.values(seats).map(({ player }) => settingOf(player, config)));
  return Object.fromEntries(
    Object.entries(config.players).flatMap(([own, kind]) => (sat.has(own) ? [[own, String(kind)]] : [])),
  );
}

/**
 * The names of those who sat in an episode, by role, ready to play. Roles are left out that have the player of the settings: all
 * where it was no episode of the training, and those of somebody whom the settings do not name.
 *
 * @throws TurnwiseError `play-unrecorded` where the weights of an earlier self are gone
 */
export async function seatsOf(
  past: Recorded,
  { seats, config }: Pick<OpenedCheckpoint, 'seats' | 'config'>,
): Promise<ByRole<string>> {
  const { label, key, episode } = past;
  if (!seats || label !== 'training') return {};
  const own = Object.entries(episode.seats).flatMap(([role, { player }]): [Role, string][] =>
    player === LEARNER || settingOf(player, config) in config.players ? [[role, player]] : [],
  );
  try {
    await seats.before(key.step);
    await seats.ready(own.map(([, player]) => player));
  } catch (error) {
    if (!TurnwiseError.isInstance(error) || error.code !== 'checkpoint-missing') throw error;
    const { player, step } = error.fields;
    // A damaged folder says so itself.
    if (player === undefined) throw error;
    throw unrecorded(
      past,
      `the weights after step ${step}, with which "${player}" played`,
      'Replay all of it (without --to), or go on with an episode against somebody who is still there',
    );
  }
  return Object.fromEntries(own);
}

/** The player in a role that no learner has; undefined where one has it. @param own who sits there in place of those of the settings */
export function otherIn(
  role: Role,
  { seats }: Pick<Learner, 'seats'>,
  own: ByRole<string>,
): string | undefined {
  const player = own[role] ?? seats?.playerOf(role) ?? LEARNER;
  return (seats?.isLearner(player) ?? true) ? undefined : player;
}
