/** A role that a simulated user plays in an environment: in demonstrations, in training, in evaluations, and where it fails. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { user } from '../src/core/messages.ts';
import { rowsOfEpisode } from '../src/data/rows-of-episode.ts';
import { writeRows } from '../src/data/write-rows.ts';
import { defineSession } from '../src/env/live/define-session.ts';
import { mix } from '../src/env/mix/mix.ts';
import type { Session } from '../src/env/session.ts';
import { simulateUser } from '../src/env/user/simulate-user.ts';
import { END_MARK } from '../src/env/user/talk.ts';
import { type TrainSettings, train } from '../src/exports/index.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-users-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const DRINKS = ['tea', 'milk', 'juice', 'soda'];

/** Whether the customer forgets what to say after the warm start. */
let forgets = false;
beforeEach(() => {
  forgets = false;
});

const customer = simulateUser<string>({
  persona: 'You want a drink.',
  facts: (drink) => ({ drink }),
  policy: ({ said, turn, facts }) => {
    if (forgets) throw new Error('what was it');
    if (turn === 0) return 'hello';
    return said === 'which' && turn < 3 ? `${facts.drink} please` : undefined;
  },
});

class Counter implements Session {
  readonly roles = ['agent', 'customer'];
  readonly drink: string;
  heard = '';
  #told: string | undefined;
  #mover: string | undefined = 'customer';

  constructor(drink: string) {
    this.drink = drink;
  }
  toMove(): string | undefined {
    return this.#mover;
  }
  observe(role: string) {
    if (role === 'agent') return this.heard === '' ? [] : [user(this.heard)];
    return [user(this.#told ?? 'welcome')];
  }
  anchor(): string {
    return `${this.heard}/${this.#told}`;
  }
  async step(action: string) {
    const mine = this.#mover === 'agent';
    if (mine) this.#told = action;
    else this.heard = action;
    const done = !mine && action === END_MARK;
    const right = done && this.#told === this.drink;
    this.#mover = done ? undefined : mine ? 'customer' : 'agent';
    return {
      rewards: { agent: right ? 1 : 0 },
      done,
      success: { agent: right, customer: right },
      valid: true,
    };
  }
  async close(): Promise<void> {}
}

const counter = defineSession<string>({
  name: 'counter',
  maxTurns: 5,
  roles: ['agent', 'customer'],
  tasks: () => DRINKS,
  users: { customer },
  open: async (drink) => new Counter(drink),
  script: (session, kind, rng) => {
    const { heard } = session as Counter;
    if (session.toMove() !== 'agent') throw new Error('nobody asks the script for the customer');
    if (kind === 'beginner') return rng.pick([...DRINKS, 'which']);
    return heard.endsWith(' please') ? heard.split(' ')[0]! : 'which';
  },
});

const settings: TrainSettings = {
  seed: 3,
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 32, steps: 8, batch: 16, beginnerShare: 0.3 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
};

const imitating = (data: string): TrainSettings => ({
  ...{ seed: 3, steps: 1, threads: 1, data },
  model: settings.model!,
  clone: { demonstrations: 32, from: 'all', steps: 0 },
  evaluation: settings.evaluation!,
});
const recordedIn = (name: string): Episode[] =>
  readEpisodeFile(join(runs, name, 'rollouts', 'recorded.jsonl.gz'))!.groups.flatMap(
    ({ members }) => members,
  );
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function stored(name: string): Episode[] {
  const folder = join(runs, name, 'rollouts');
  return readdirSync(folder)
    .filter((file) => /^\d+\.jsonl\.gz$/.test(file))
    .flatMap((file) => [...(readEpisodeFile(join(folder, file))?.groups ?? [])])
    .flatMap(({ members }) => members);
}

test('a simulated user plays its role by itself, is recorded, and is neither measured nor trained', async () => {
  const { after } = await train({ world: counter, name: 'served', runs, settings });
  const episodes = stored('served');
  expect(episodes).toHaveLength(32);
  for (const { seats, calls, credit } of episodes) {
    expect(seats.customer).toEqual({ player: 'customer', version: 0 });
    expect(seats.agent!.player).toBe('learner');
    expect(Object.keys(credit ?? {})).not.toContain('customer');
    for (const { role, by, trainable, ids } of calls) {
      expect(by).toMatchObject(
        role === 'customer' ? { kind: 'script', name: 'customer' } : { kind: 'policy' },
      );
      expect([trainable, ids.length > 0]).toEqual(
        role === 'customer' ? ['other-model', false] : [true, true],
      );
    }
    expect(calls[0]).toMatchObject({ role: 'customer', text: 'hello' });
  }
  // One role counts, once in every episode.
  expect(after.sampled.episodes).toBe(4);
});

test('what a simulated user said in a recorded run is read, and never imitated', async () => {
  await train({ world: counter, recipe: 'sft', name: 'imitated', runs, settings: imitating('served') });
  const roles = recordedIn('imitated').flatMap(({ calls }) => calls.map(({ role }) => role));
  expect(new Set(roles)).toEqual(new Set(['agent']));
  const said = stored('served').flatMap(({ calls }) => calls.filter(({ role }) => role === 'customer'));
  const data = readEvents(join(runs, 'imitated', 'events.jsonl')).find(({ type }) => type === 'data');
  expect(data).toMatchObject({ exact: 32, leftOut: { 'answers of other players': said.length } });
});

test.each([
  ['a recorded run', 'served'],
  ['demonstrations', 'demonstrations'],
])('what it did pays the agent that is imitated, in %s', async (_, data) => {
  const name = `paid-${data}`;
  await train({ world: counter, recipe: 'sft', name, runs, settings: imitating(data) });
  const recorded = recordedIn(name);
  const paid = recorded.flatMap(({ transitions }) => transitions.map(({ rewards }) => rewards.agent ?? 0));
  expect(sum(paid)).toBe(sum(recorded.map(({ outcome }) => outcome.agent!)));
  expect(sum(paid)).toBeGreaterThan(0);
  expect(recorded.flatMap(({ calls }) => calls.map(({ role }) => role))).not.toContain('customer');
});

test('rows of a simulated user are left out of a file', async () => {
  const rows = stored('served').flatMap((episode) => rowsOfEpisode(episode, episode, { kind: 'run' }));
  const ofUser = rows.filter(({ source }) => source.role === 'customer').length;
  const data = join(runs, 'served.jsonl');
  writeRows(data, rows);
  await train({ world: counter, recipe: 'sft', name: 'from-file', runs, settings: imitating(data) });
  const told = readEvents(join(runs, 'from-file', 'events.jsonl')).find(({ type }) => type === 'data');
  expect(told).toMatchObject({ leftOut: { 'rows of the role customer': ofUser } });
});

test('no other player has the name of a simulated user', async () => {
  const named = { ...settings, players: { customer: 'past:1' } };
  await expect(train({ world: counter, name: 'twice', runs, settings: named })).rejects.toThrow(
    'counter has a simulated user of this name',
  );
});

test('its failures are those of the environment', async () => {
  const sink = { event: (event: { type: string }) => (forgets ||= event.type === 'start') };
  const stops: string[] = [];
  try {
    await train({ world: counter, name: 'forgets', runs, settings, sinks: [sink as never] });
  } catch {
    // A run in which nothing counts may refuse to go on.
  }
  for (const { stop, failure } of stored('forgets')) {
    stops.push(stop);
    expect(failure).toContain('The simulated user "customer" did not answer');
  }
  expect(new Set(stops)).toEqual(new Set(['failed:environment']));
});

test('a mix refuses worlds with simulated users', async () => {
  const world = mix({ counter: { world: counter, weight: 1 } });
  await expect(train({ world, name: 'mixed', runs, settings })).rejects.toThrow('has simulated users');
});
