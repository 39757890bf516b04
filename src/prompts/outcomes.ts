/** What the policy's roles of a group earned, and how an episode went, as a text for proposers. */

import type { Episode, Group } from '../core/episode.ts';
import { mean } from '../core/statistics.ts';
import { chainOf, trainedRoles } from '../core/trajectory.ts';

/** The mean of what the policy's roles earned. */
export function outcomeOf(group: Group, episode: Episode): number {
  const roles = trainedRoles(chainOf(group, episode));
  const earned = (roles.length > 0 ? roles : Object.keys(episode.outcome)).map(
    (role) => episode.outcome[role] ?? 0,
  );
  return earned.length === 0 ? 0 : mean(earned);
}

/** Of each of its episodes. */
export const outcomesOf = (group: Group): number[] =>
  group.members.map((episode) => outcomeOf(group, episode));

/** What was read and written, turn by turn, and what came of it: at most `most` characters, the middle left out. */
export function transcriptOf(group: Group, episode: Episode, most: number): string {
  const { calls } = chainOf(group, episode);
  const prompt = episode.prompt ?? '';
  const lines = calls.flatMap(({ messages, role, text, purpose }) => [
    // The proposer knows the instruction.
    ...messages.filter(({ content }) => content !== prompt).map((one) => `${one.role}: ${one.content}`),
    `${role}${purpose === 'act' ? '' : ` (${purpose})`}: ${text}`,
  ]);
  const ended = [
    ...new Set(Object.values(episode.closing ?? {}).flatMap((words) => words.map(({ content }) => content))),
  ].map((content) => `user: ${content}`);
  const end = `outcome: ${round(outcomeOf(group, episode))} (${episode.stop})`;
  return `${middleCut([...lines, ...ended].join('\n'), Math.max(0, most - end.length - 1))}\n${end}`;
}

export const round = (value: number): number => Math.round(value * 1000) / 1000;

const GAP = '\n[…]\n';

export function middleCut(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.max(0, Math.floor((most - GAP.length) / 2));
  return `${text.slice(0, half)}${GAP}${half === 0 ? '' : text.slice(-half)}`;
}
