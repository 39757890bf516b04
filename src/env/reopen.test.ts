/** Free snapshots as plain JSON: another process goes on from them as this one does. */

import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { user } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { findEnvironment } from '../run/load/environments.ts';
import { serveEnvironment } from '../server/environment/serve.ts';
import { defineEnvironment } from './environment.ts';
import { fromEnvironment } from './from-environment.ts';
import { fromGame } from './from-game.ts';
import { defineGame } from './game.ts';
import { mixWorlds } from './mix/mix-worlds.ts';
import { connectTurnwise } from './remote/turnwise.ts';
import type { Session } from './session.ts';
import type { World } from './world.ts';

const { signal } = new AbortController();

/** Slippery, so that the way depends on chance. */
const OPTIONS = { slip: 0.5, size: 6, holes: 0, minimumPath: 3, maxTurns: 40 };

/** What the other process runs, on the built package. */
const ELSEWHERE = `
  const { findEnvironment } = await import(process.argv[1]);
  const frozenLake = await findEnvironment('frozen-lake');
  let text = '';
  for await (const part of process.stdin) text += part;
  const { options, held, actions } = JSON.parse(text);
  const world = frozenLake.create(frozenLake.options.parse(options));
  const session = await world.reopen(held);
  const seen = [];
  for (const action of actions) {
    if (session.toMove() === undefined) break;
    const { rewards, done } = await session.step(action, new AbortController().signal);
    seen.push([session.anchor('agent'), session.observe('agent'), rewards, done]);
  }
  process.stdout.write(JSON.stringify(seen));`;

function elsewhere(input: object): Promise<unknown> {
  const built = new URL('../../dist/src/exports/environments.js', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--input-type=module', '-e', ELSEWHERE, built], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(input));
  let text = '';
  child.stdout.on('data', (part: Buffer) => {
    text += String(part);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`status ${code}`)),
    );
  });
}

async function goneOn(session: Session, actions: readonly string[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const action of actions) {
    const role = session.toMove();
    if (role === undefined) break;
    const { rewards, done } = await session.step(action, signal);
    seen.push([session.anchor(role), session.observe(role), rewards, done]);
  }
  return seen;
}

test('a place of a slippery frozen lake goes on alike in a child process', async () => {
  const frozenLake = await findEnvironment('frozen-lake');
  const world = frozenLake.create(frozenLake.options.parse(OPTIONS));
  const session = await world.open(world.tasks('train').at(3), Rng.of('reopened'));
  await goneOn(session, ['right']);
  const held = (await session.snapshot!()).toJson!();
  const actions = ['down', 'right', 'left', 'down', 'right'];
  const here = await goneOn(session, actions);
  expect(here.length).toBeGreaterThan(1);
  expect(await elsewhere({ options: OPTIONS, held, actions })).toEqual(JSON.parse(JSON.stringify(here)));
});

/** Shows what chance gave. */
const dice = fromEnvironment(
  defineEnvironment<number, { turn: number; shown: number }>({
    name: 'dice',
    description: '',
    maxTurns: 4,
    tasks: () => ({ size: 4, at: (index) => index }),
    start: (_task, rng) => ({ state: { turn: 0, shown: rng.next() }, messages: [user('go')] }),
    step: ({ turn }, _action, rng) => {
      const shown = rng.next();
      return {
        state: { turn: turn + 1, shown },
        observation: `${shown}`,
        reward: shown,
        done: turn === 3,
        valid: true,
      };
    },
  }),
);
const duel = fromGame(
  defineGame<number, { turn: number; shown: number }>({
    name: 'duel',
    description: '',
    roles: ['white', 'black'],
    maxTurns: 4,
    tasks: () => ({ size: 4, at: (index) => index }),
    start: (_task, rng) => ({ turn: 0, shown: rng.next() }),
    toMove: ({ turn }) => (turn === 4 ? undefined : turn % 2 === 0 ? 'white' : 'black'),
    observe: ({ shown }) => [user(`${shown}`)],
    anchor: ({ turn }) => `${turn}`,
    step: ({ turn }, _role, _action, rng) => ({
      state: { turn: turn + 1, shown: rng.next() },
      ...{ rewards: {}, valid: true, done: turn === 3 },
    }),
  }),
);

async function reopensAlike(world: World): Promise<void> {
  const session = await world.open(world.tasks('train').at(1), Rng.of('one'), Rng.of('start'));
  await goneOn(session, ['a']);
  const held: unknown = JSON.parse(JSON.stringify((await session.snapshot!()).toJson!()));
  const again = await world.reopen!(held as never);
  expect(session.roles.map((role) => again.observe(role))).toEqual(
    session.roles.map((role) => session.observe(role)),
  );
  expect(await goneOn(again, ['b', 'a', 'b'])).toEqual(await goneOn(session, ['b', 'a', 'b']));
  await again.close();
  await session.close();
}

test.each([
  ['an environment', dice],
  ['a game', duel],
  ['a mix', mixWorlds([{ name: 'dice', world: dice, weight: 1 }])],
] as const)('%s reopens from JSON', (_, world) => reopensAlike(world));

test('a pure environment of another server reopens there', async () => {
  const server = await serveEnvironment({ world: dice, port: 0 });
  try {
    const remote = await connectTurnwise('dice', `http://127.0.0.1:${server.port}`);
    const world = remote.create(remote.options.parse({}));
    await reopensAlike(world);
    await expect(world.reopen!({ split: 'train' })).rejects.toMatchObject({ code: 'snapshot-invalid' });
    expect(server.openSessions()).toBe(0);
  } finally {
    await server.close();
  }
});

test.each([null, {}, { state: {}, steps: -1, chance: [1, 2, 3, 4] }, { state: {}, steps: 0, chance: [1] }])(
  'what is no snapshot is refused: %j',
  async (held) => {
    for (const world of [dice, duel]) {
      await expect(world.reopen!(held)).rejects.toMatchObject({ code: 'snapshot-invalid' });
    }
    const mixed = mixWorlds([{ name: 'dice', world: dice, weight: 1 }]);
    await expect(mixed.reopen!(held)).rejects.toMatchObject({ code: 'snapshot-invalid' });
  },
);
