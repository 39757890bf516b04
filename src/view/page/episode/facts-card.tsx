/** What is known of an episode, beside its conversation. */

import type { ShownEpisode } from '../../shapes.ts';
import { type GroupAt, textQuery } from '../navigation/places.ts';
import { LongText } from '../parts/long-text.tsx';
import { count, duration, number } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

interface FactsCardProps {
  readonly at: GroupAt;
  readonly member: number;
  readonly episode: ShownEpisode;
  /** Why nobody can go on from one of its turns. */
  readonly unrepeatable: string | undefined;
}

export function FactsCard({ at, member, episode, unrepeatable }: FactsCardProps) {
  const { key, calls, outcome, stop, seconds, seats, label, scores, branchedFrom, task } = episode;
  const sampled = calls.reduce((sum, { tokens }) => sum + tokens, 0);
  const read = calls.reduce((sum, { context }) => sum + context, 0);
  const versions = [...new Set(calls.map(({ version }) => version))];
  const facts: [string, string][] = [
    ...Object.entries(outcome).map(([role, value]): [string, string] => [
      Object.keys(outcome).length > 1 ? `return, ${oneLine(role, 24)}` : 'return',
      number(value),
    ]),
    ['stop', stop],
    ...(Object.keys(seats).length > 1
      ? Object.entries(seats).map(([role, { player, version }]): [string, string] => [
          oneLine(role, 24),
          `${oneLine(player, 40)}, version ${version}`,
        ])
      : versions.length > 0
        ? [['policy', `version ${versions.join(', ')}`] as [string, string]]
        : []),
    ['tokens', `${count(sampled)} sampled, ${count(read)} read`],
    ['time', duration(seconds)],
    ['task', `${oneLine(String(key.task), 40)} of ${key.split}`],
    ['key', `${key.step}/${key.group}/${key.member}`],
    ...(label === 'training' ? [] : [['played', label] as [string, string]]),
    ...(branchedFrom
      ? [
          ['branched', `from member ${branchedFrom.member} after turn ${branchedFrom.turn}`] as [
            string,
            string,
          ],
        ]
      : []),
    ...scores.map(({ by, rewards }): [string, string] => [
      `score by ${oneLine(by, 24)}`,
      Object.entries(rewards)
        .map(([role, value]) => `${oneLine(role, 24)} ${number(value)}`)
        .join(', '),
    ]),
  ];
  return (
    <section class="card" aria-label="Episode">
      <h2>Episode</h2>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {unrepeatable !== undefined && <p class="ink2 small">{unrepeatable}</p>}
      <details>
        <summary>Task</summary>
        <LongText cut={task} more={textQuery(at, member, 'task')} />
      </details>
    </section>
  );
}
