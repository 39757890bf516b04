/** Datasets by mixed players: episodes of scripts of different quality as rows, as the offline data of LMRL-Gym (arXiv 2311.18232) was made. */

import { TurnwiseError } from '../../core/errors.ts';
import type { ConversationRow } from '../../data/row.ts';
import { rowsOfGroup } from '../../data/rows-of-episode.ts';
import type { World } from '../../env/world.ts';
import { unwatched, type Watch } from '../../rollout/watch.ts';
import { demonstrate } from '../../synth/demonstrations.ts';

/** One of the players of a dataset. */
export interface MixedPlayer {
  readonly kind: 'expert' | 'beginner' | 'random';
  /** Probability that an action is a random one. */
  readonly randomRate: number;
  /** Episodes in proportion to those of the other players. */
  readonly share: number;
}

const FORM =
  'KIND, KIND~RATE or KIND~RATE=SHARE with KIND expert, beginner or random, such as expert,expert~0.5=3,random=2';

/**
 * Players from what is written on a command line.
 *
 * @example
 * parsePlayers('expert,expert~0.3=2'); // an expert, and twice as many episodes of one that errs in 3 of 10 moves
 * @throws TurnwiseError `option-value`
 */
export function parsePlayers(text: string): MixedPlayer[] {
  return text.split(',').map((part) => {
    const [, kind, rate = '0', share = '1'] =
      /^(expert|beginner|random)(?:~(0|1|0?\.\d+))?(?:=(\d+(?:\.\d+)?))?$/.exec(part.trim()) ?? [];
    if (kind === undefined || Number(share) <= 0)
      throw new TurnwiseError('option-value', {
        what: 'There is no such player of a dataset',
        seen: part,
        allowed: FORM,
      });
    return {
      kind: kind as MixedPlayer['kind'],
      randomRate: kind === 'random' ? 1 : Number(rate),
      share: Number(share),
    };
  });
}

/** How a player is called in its rows. */
export const playerName = ({ kind, randomRate }: MixedPlayer): string =>
  kind === 'random' || randomRate === 0 ? kind : `${kind}~${randomRate}`;

export interface MixedPlayOptions {
  readonly players: readonly MixedPlayer[];
  readonly episodes: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly watch?: Watch;
}

/**
 * Episodes of training tasks by these players, player after player, each with its share of the whole. The same rows for the same
 * seed.
 *
 * @throws TurnwiseError `no-script`, `no-demonstrations`
 */
export async function mixedRows(
  world: World,
  { players, episodes, seed, signal, watch = unwatched }: MixedPlayOptions,
): Promise<ConversationRow[]> {
  const rows: ConversationRow[] = [];
  const total = players.reduce((sum, { share }) => sum + share, 0);
  let ended = 0;
  let passed = 0;
  for (const [place, player] of players.entries()) {
    // Rounded up or down so that all add up.
    passed += player.share;
    const count = Math.round((episodes * passed) / total) - ended;
    ended += count;
    if (count === 0) continue;
    const groups = await demonstrate(world, {
      demonstrations: count,
      beginnerShare: player.kind === 'beginner' ? 1 : 0,
      randomRate: player.randomRate,
      seed: seed * 1000 + place,
      maxTurns: world.maxTurns,
      turnTimeoutMs: 30_000,
      signal,
      watch,
    });
    for (const group of groups)
      for (const row of rowsOfGroup(group, { kind: 'file' })) {
        const { episode, ...source } = row.source;
        // Episodes of different players are different episodes, also where they play one task.
        rows.push({
          ...row,
          source: {
            ...source,
            by: playerName(player),
            ...(episode && { episode: { ...episode, step: place } }),
          },
        });
      }
  }
  return rows;
}

/** Returns of a dataset: what a score is measured against. */
export interface ReturnStatistics {
  readonly episodes: number;
  readonly mean: number;
  readonly least: number;
  readonly median: number;
  readonly most: number;
  readonly success: number;
  readonly byPlayer: Readonly<
    Record<string, { readonly episodes: number; readonly mean: number; readonly success: number }>
  >;
}

/** @param rows one for each episode, as environments of one role give them */
export function returnStatistics(rows: readonly ConversationRow[]): ReturnStatistics {
  const figures = (some: readonly ConversationRow[]) => ({
    episodes: some.length,
    mean: some.reduce((sum, { reward = 0 }) => sum + reward, 0) / some.length,
    success: some.filter(({ success }) => success === true).length / some.length,
  });
  const returns = rows.map(({ reward = 0 }) => reward).sort((a, b) => a - b);
  const players = [...new Set(rows.map(({ source }) => source.by ?? ''))];
  return {
    ...figures(rows),
    least: returns[0] ?? 0,
    median: returns[Math.floor(returns.length / 2)] ?? 0,
    most: returns.at(-1) ?? 0,
    byPlayer: Object.fromEntries(
      players.map((player) => [player, figures(rows.filter(({ source }) => source.by === player))]),
    ),
  };
}
