/** Players that a source of tasks seats for a group: who plays, what is recorded, who learns, and what is refused. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { creditCommand } from '../src/cli/commands/credit.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import type { ByRole, Episode } from '../src/core/episode.ts';
import { roleGroups } from '../src/core/trajectory.ts';
import type { CreditReport } from '../src/credit/report/report.ts';
import { type DefinedTasks, defineTasks, train } from '../src/exports/index.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-group-seats-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

/** Plays four groups a step, seated as told. */
const seating = (seatsOf: (group: number) => ByRole<string> | undefined): DefinedTasks =>
  defineTasks({
    name: 'seating',
    seats: true,
    next: ({ round, tasks, members }) =>
      round > 0
        ? []
        : tasks.fresh(4).map((index, group) => {
            const seats = seatsOf(group);
            return { task: { split: 'train', index }, members, ...(seats && { seats }) };
          }),
  });

const play = (name: string, tasks: DefinedTasks, more: object = {}) =>
  train({
    ...{ world: 'kuhn-poker', name, runs },
    settings: {
      ...{ seed: 5, steps: 3, threads: 1 },
      model: { width: 16, layers: 1, heads: 2, hidden: 32 },
      clone: { demonstrations: 64, steps: 60, batch: 16 },
      rollout: { tasks: 4, group: 4 },
      evaluation: { every: 0, tasks: 4, finalTasks: 4 },
      tasks: { name: tasks },
      ...more,
    },
  });

const shard = (name: string, step: number): string => join(runs, name, 'rollouts', `${step}.jsonl.gz`);

function stored(name: string): Episode[] {
  const steps = readdirSync(join(runs, name, 'rollouts')).filter((file) => /^\d+\.jsonl\.gz$/.test(file));
  return steps
    .flatMap((_, index) => [...(readEpisodeFile(shard(name, index + 1))?.groups ?? [])])
    .flatMap(({ members }) => members);
}

const players = { dice: 'script:random', old: 'past:1', bob: 'learner' };

describe('players of a group', () => {
  const seats = [undefined, { first: 'dice' }, { second: 'old' }, { second: 'bob' }];

  test('play their roles, are recorded, and only learners learn from their own', async () => {
    await play(
      'mixed',
      seating((group) => seats[group]),
      { players },
    );
    const episodes = stored('mixed');
    expect(episodes).toHaveLength(3 * 16);
    for (const episode of episodes) {
      const { first = 'learner', second = 'learner' }: ByRole<string> = seats[episode.key.group] ?? {};
      expect(episode.seats).toMatchObject({ first: { player: first }, second: { player: second } });
      const learned = { learner: true, bob: true, old: 'other-model', dice: 'scripted' } as const;
      for (const { role, by, trainable } of episode.calls) {
        const player = role === 'first' ? first : second;
        expect([by.name, trainable]).toEqual([player, learned[player as keyof typeof learned]]);
      }
      for (const role of Object.keys(episode.credit ?? {})) {
        expect(['learner', 'bob']).toContain(episode.seats[role]!.player);
      }
    }
    const credited = episodes.flatMap(({ seats: all, credit = {} }) =>
      Object.keys(credit).map((role) => `${role} ${all[role]!.player}`),
    );
    expect(new Set(credited)).toEqual(new Set(['first learner', 'second learner', 'second bob']));
    const metrics = readEvents(join(runs, 'mixed', 'events.jsonl')).flatMap((event) =>
      event.type === 'step' ? [event.metrics] : [],
    );
    expect(metrics.at(-1)).toHaveProperty(['players/bob/tokens/trained']);
  });

  test('have the advantages that the credit command computes of what is stored', async () => {
    const compared = new Set<string>();
    for (const step of [1, 2, 3]) {
      const console = memoryConsole();
      await runCommandLine(['credit', '--rollouts', shard('mixed', step), '--json'], {
        ...{ commands: [creditCommand], version: '0.1.0', console, interrupts: noInterrupts },
      });
      expect(console.errors()).toBe('');
      const { trajectories } = JSON.parse(console.output()) as CreditReport;
      const told = new Map(trajectories.map(({ id, turns }) => [id, turns.map((turn) => turn.advantage)]));
      for (const { members } of roleGroups(readEpisodeFile(shard('mixed', step))!.groups))
        for (const { id, role, episode } of members) {
          const credit = episode.credit?.[role];
          if (!credit) continue;
          expect(told.get(id)).toEqual(credit.advantages_K);
          compared.add(episode.seats[role]!.player);
        }
    }
    expect(compared).toEqual(new Set(['learner', 'bob']));
  });

  test('take the place of those that the settings seat', async () => {
    await play(
      'over',
      seating((group) => (group === 0 ? { first: 'learner' } : undefined)),
      { steps: 1, players: { dice: players.dice }, seats: { first: 'dice' } },
    );
    for (const { key, seats: all } of stored('over')) {
      expect(all.first!.player).toBe(key.group === 0 ? 'learner' : 'dice');
    }
  });
});

describe('what cannot be seated', () => {
  const told = (seats: unknown, more: object = { players }) =>
    play(
      `refused-${Math.random()}`,
      seating(() => seats as ByRole<string>),
      { steps: 1, ...more },
    ).then(
      () => 'played',
      (error: Error) => error.message,
    );

  test('a player that no setting names', async () => {
    const message = await told({ first: 'carol' });
    expect(message).toContain('seats "carol", whom no setting names');
    expect(message).toContain('learner, dice, old, bob, old@0; --set players.carol=past:10 names another');
  });

  test('a role that is not there, and a group without a learner', async () => {
    expect(await told({ third: 'dice' })).toContain('"third", which kuhn-poker does not have');
    expect(await told({ first: 'dice', second: 'old' })).toContain('leaves no role to a learner');
    expect(await told({ first: 3 })).toContain('seats something else than players');
  });

  test('a source that does not say so, and a player whom no source and no setting seats', async () => {
    const silent = defineTasks({
      name: 'silent',
      next: () => [{ task: { split: 'train', index: 0 }, members: 2, seats: { first: 'dice' } }],
    });
    const seatedBySettings = { players: { dice: 'script:random' }, seats: { second: 'dice' } };
    await expect(play('silent', silent, { steps: 1, ...seatedBySettings })).rejects.toThrow(
      'seats players and does not say so',
    );
    await expect(play('idle', defineTasks({ name: 'usual', next: () => [] }), { players })).rejects.toThrow(
      'sits nowhere',
    );
  });
});
