/** Players besides the learner: who sits where, what is recorded of them, and that only the learner learns. */

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { creditCommand } from '../src/cli/commands/credit.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import type { Episode } from '../src/core/episode.ts';
import { roleGroups } from '../src/core/trajectory.ts';
import type { CreditReport } from '../src/credit/report/report.ts';
import { start, type TrainSettings, train } from '../src/exports/index.ts';
import { resume } from '../src/exports/train.ts';
import { pastStep } from '../src/run/players/past-self.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-players-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const small: TrainSettings = {
  seed: 5,
  steps: 4,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 48, steps: 4, batch: 16 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
  checkpoint: { every: 1, keep: 10 },
};

const play = (name: string, settings: TrainSettings, steps = 4) =>
  train({ world: 'kuhn-poker', name, runs, settings: { ...small, ...settings, steps } });

const rival = { players: { rival: 'past:2' }, seats: { first: 'rival' } };

/** Stored episodes of a run's steps, in order. */
function stored(name: string): Episode[] {
  const folder = join(runs, name, 'rollouts');
  const shards = readdirSync(folder).filter((file) => /^\d+\.jsonl\.gz$/.test(file));
  return shards
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .flatMap((file) => [...(readEpisodeFile(join(folder, file))?.groups ?? [])])
    .flatMap(({ members }) => members);
}

const asTold = ({ calls, transitions, outcome, seats }: Episode) => ({
  calls: calls.map(({ role, text, by, trainable }) => ({ role, text, by, trainable })),
  actions: transitions.map(({ action }) => action),
  outcome,
  seats,
});

describe('an earlier self', () => {
  test('sits in its seat with weights of earlier steps, and only the learner learns', async () => {
    const { after } = await play('past', rival);
    const episodes = stored('past');
    expect(episodes).toHaveLength(4 * 16);
    for (const { key, seats, calls, credit } of episodes) {
      expect(seats.first!.player).toBe('rival');
      // The warm start is version 1, and each step adds one.
      expect([1, 3]).toContain(seats.first!.version);
      expect(seats.first!.version).toBeLessThanOrEqual(key.step);
      expect(seats.second).toEqual({ player: 'learner', version: key.step });
      expect(Object.keys(credit ?? {})).not.toContain('first');
      for (const { role, by, trainable } of calls) {
        expect(by.name).toBe(role === 'first' ? 'rival' : 'learner');
        expect(trainable).toBe(role === 'first' ? 'other-model' : true);
      }
    }
    expect(episodes.filter(({ credit }) => credit?.second).length).toBeGreaterThan(0);
    // One role is measured: a game of one winner and one loser is no longer worth 0 on average.
    expect(after.sampled.episodes).toBe(4);
    expect(readdirSync(join(runs, 'past', 'past')).sort()).toEqual(['0', '2', '4']);
  });

  test('is drawn again as it was where a run goes on', async () => {
    const run = await start({ world: 'kuhn-poker', name: 'half', runs, settings: { ...small, ...rival } });
    for await (const event of run.events) if (event.type === 'step' && event.step === 2) run.stop();
    await run.finished.catch(() => {});
    await (await resume('half', { runs })).finished;
    expect(stored('half').map(asTold)).toEqual(stored('past').map(asTold));
  });

  test('is each of the kept ones in turn', () => {
    const self = { name: 'rival', every: 5, seed: 1 };
    const drawn = (step: number) =>
      new Set(Array.from({ length: 100 }, (_, seed) => pastStep({ ...self, seed }, step)));
    expect(drawn(20)).toEqual(new Set([0, 5, 10, 15]));
    expect(drawn(6)).toEqual(new Set([0, 5]));
    expect(drawn(5)).toEqual(new Set([0]));
    expect(pastStep(self, 0)).toBe(0);
  });
});

describe('other players', () => {
  test('a run at a step, which keeps its weights', async () => {
    await play('teacher', {});
    const opened = readdirSync(join(runs, 'teacher', 'checkpoints')).sort();
    await play('frozen', { players: { old: 'teacher@2' }, seats: { second: 'old' } }, 2);
    for (const { seats, calls } of stored('frozen')) {
      expect(seats.second).toEqual({ player: 'old', version: 3 });
      for (const call of calls.filter(({ role }) => role === 'second')) {
        expect(call.text).not.toBe('');
        expect(call.trainable).toBe('other-model');
        expect(call.ids).toHaveLength(0);
      }
    }
    expect(readdirSync(join(runs, 'teacher', 'checkpoints')).sort()).toEqual(opened);
  });

  test('a script, and an endpoint that reads messages', async () => {
    const asked: unknown[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        asked.push(JSON.parse(Buffer.concat(chunks).toString()));
        const message = { role: 'assistant', content: 'check' };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      await play(
        'endpoint',
        { players: { far: `openai:http://127.0.0.1:${port}/v1#m` }, seats: { first: 'far' } },
        1,
      );
    } finally {
      server.close();
    }
    expect(asked.length).toBeGreaterThan(16);
    expect(asked[0]).toMatchObject({ model: 'm', messages: [{ role: 'user' }] });
    for (const { seats, calls } of stored('endpoint')) {
      expect(seats.first!.player).toBe('far');
      expect(calls[0]).toMatchObject({ text: 'check', trainable: 'other-model', by: { kind: 'model' } });
    }
    await play('script', { players: { dice: 'script:random' }, seats: { first: 'dice' } }, 1);
    for (const { seats, calls } of stored('script')) {
      expect(seats.first).toEqual({ player: 'dice', version: 0 });
      expect(calls[0]).toMatchObject({ trainable: 'scripted', by: { kind: 'script', name: 'dice' } });
    }
  });

  test('another learner has weights of its own, learns from its own roles, and goes on from them', async () => {
    const two = { players: { bob: 'learner' }, seats: { second: 'bob' } };
    await play('two', two);
    for (const { seats, calls } of stored('two')) {
      expect(seats).toMatchObject({ first: { player: 'learner' }, second: { player: 'bob' } });
      for (const { role, by, trainable } of calls) {
        expect([by.name, trainable]).toEqual([role === 'first' ? 'learner' : 'bob', true]);
      }
    }
    const weights = (name: string, step: number, inner = ''): string =>
      createHash('sha256')
        .update(readFileSync(join(runs, name, 'checkpoints', String(step), inner, 'model.safetensors')))
        .digest('hex');
    const bob = join('players', 'bob');
    expect(weights('two', 4, bob)).not.toBe(weights('two', 4));
    expect(weights('two', 4, bob)).not.toBe(weights('two', 0, bob));
    const run = await start({ world: 'kuhn-poker', name: 'two-half', runs, settings: { ...small, ...two } });
    for await (const event of run.events) if (event.type === 'step' && event.step === 2) run.stop();
    await run.finished.catch(() => {});
    await (await resume('two-half', { runs })).finished;
    const both = (name: string) => [weights(name, 4), weights(name, 4, bob)];
    expect(both('two-half')).toEqual(both('two'));
    const metrics = readEvents(join(runs, 'two', 'events.jsonl')).flatMap((event) =>
      event.type === 'step' ? [event.metrics] : [],
    );
    expect(metrics.at(-1)).toHaveProperty(['players/bob/tokens/trained']);
  });

  test.each(['reinforce++', 'rae'])('the advantages of %s are those of the command', async (method) => {
    const settings = {
      ...{ players: { bob: 'learner' }, seats: { second: 'bob' }, credit: { method } },
      ...{ objective: { klCoefficient: 0 } },
    };
    await play(`credit-${method}`, settings, 2);
    let compared = 0;
    for (const step of [1, 2]) {
      const path = join(runs, `credit-${method}`, 'rollouts', `${step}.jsonl.gz`);
      const console = memoryConsole();
      await runCommandLine(['credit', '--rollouts', path, '--json'], {
        ...{ commands: [creditCommand], version: '0.1.0', console, interrupts: noInterrupts },
      });
      expect(console.errors()).toBe('');
      const { trajectories } = JSON.parse(console.output()) as CreditReport;
      const told = new Map(trajectories.map(({ id, turns }) => [id, turns.map((turn) => turn.advantage)]));
      for (const { members } of roleGroups(readEpisodeFile(path)!.groups))
        for (const { id, role, episode } of members) {
          const credit = episode.credit?.[role];
          if (!credit) continue;
          expect(told.get(id)).toEqual(credit.advantages_K);
          compared++;
        }
    }
    expect(compared).toBeGreaterThan(30);
  });

  test('several learners learn from steps that are played ahead, each under versions of its own weights', async () => {
    const two = { players: { bob: 'learner' }, seats: { second: 'bob' } };
    await play('ahead', { ...two, batches: { maxStaleness: 1 } });
    const stale = new Set<number>();
    for (const { key, calls, credit } of stored('ahead')) {
      for (const { role, by, trainable } of calls) {
        expect([by.name, trainable]).toEqual([role === 'first' ? 'learner' : 'bob', true]);
        const { trainedIn } = credit?.[role] ?? {};
        if (trainedIn === undefined) continue;
        expect(trainedIn).toBe(key.step);
        // The warm start is version 1, and a step learns at the version of its number.
        expect(trainedIn - by.version).toBeLessThanOrEqual(1);
        stale.add(trainedIn - by.version);
      }
    }
    expect(stale).toContain(1);
    const metrics = readEvents(join(runs, 'ahead', 'events.jsonl')).flatMap((event) =>
      event.type === 'step' ? [event.metrics] : [],
    );
    for (const [step, one] of metrics.entries()) {
      expect(one['policy/staleness']).toBe(step === 0 ? 0 : 1);
      expect(one).toHaveProperty(['players/bob/tokens/trained']);
    }
  });

  test.each([
    [
      { ...{ players: { a: 'past:2' }, seats: { first: 'a' } }, batches: { maxStaleness: 1 } },
      'The player "a" is drawn anew for each step, which needs steps that are played as a whole, and not ahead. Seen: maxStaleness=1',
    ],
    [
      { players: { a: 'pats:3' }, seats: { first: 'a' } },
      'The player "a" is none that there is. Seen: pats:3',
    ],
    [{ players: { a: 'past:0' }, seats: { first: 'a' } }, 'Allowed: learner, past:STEPS'],
    [{ seats: { first: 'a' } }, 'No player is called "a". Seen: a. Allowed: learner'],
    [{ players: { a: 'past:3' } }, 'sits nowhere'],
    [{ players: { a: 'past:3' }, seats: { third: 'a' } }, 'kuhn-poker has no role "third"'],
    [{ players: { a: 'past:3' }, seats: { first: 'a', second: 'a' } }, 'Nothing is learned'],
    [{ players: { a: 'nowhere@3' }, seats: { first: 'a' } }, 'nowhere'],
  ])('refused before anything runs: %j', async (settings, message) => {
    await expect(play('never', settings)).rejects.toThrow(message);
    expect(readdirSync(runs)).not.toContain('never');
  });
});
