/** The range of returns that an environment declares is kept by every player, and both of its ends are reached. */

import { expect, test } from 'vitest';
import type { Json } from '../src/core/json/json.ts';
import { Rng } from '../src/core/rng.ts';
import type { Role } from '../src/env/session.ts';
import { truthsOf, type World } from '../src/env/world.ts';
import { loadEnvironments } from '../src/run/load/environments.ts';

const ranged = (await loadEnvironments())
  .map((factory) => factory.create(factory.options.parse({})))
  .filter(({ returns }) => returns !== undefined);

/** A mission takes a turn at least, and is worth less by it. */
const neverFull = ['missions'];

const players = ['expert', 'random', 'truth', 'nonsense'] as const;

/** What each role earned where one of these players acts for each of them. */
async function outcomes(world: World, task: Json, seed: number): Promise<readonly number[]> {
  const choices = Rng.of('returns', seed);
  const player = new Map(world.roles.map((role) => [role, choices.pick(players)]));
  const session = await world.open(task, Rng.of('world', seed));
  const earned = new Map<Role, number>();
  const used = new Map<Role, number>();
  try {
    for (let role = session.toMove(); role !== undefined; role = session.toMove()) {
      if ((used.get(role) ?? 0) >= world.maxTurns) break;
      used.set(role, (used.get(role) ?? 0) + 1);
      const { rewards } = await session.step(await act(role), new AbortController().signal);
      for (const [who, reward] of Object.entries(rewards)) earned.set(who, (earned.get(who) ?? 0) + reward);
    }
  } finally {
    await session.close();
  }
  return world.roles.map((role) => earned.get(role) ?? 0);

  async function act(role: Role): Promise<string> {
    const kind = player.get(role)!;
    if (kind === 'nonsense') return 'xyzzy';
    const [truth] = kind === 'truth' ? truthsOf(world, task) : [];
    const parsed = truth === undefined ? undefined : world.protocol.parse(truth);
    if (parsed?.ok) return parsed.action;
    const action = await world.script!(session, kind === 'random' ? 'random' : 'expert', choices);
    return action!;
  }
}

test('ranges are declared', () => {
  expect(ranged.length).toBeGreaterThan(10);
});

test.each(ranged.map((world) => [world.name, world] as const))(
  '%s',
  { timeout: 60_000 },
  async (name, world) => {
    const [least, most] = world.returns!;
    const tasks = world.tasks('train');
    const seen: number[] = [];
    const episodes = name === 'chess' ? 8 : ['chess-endgames', 'missions'].includes(name) ? 30 : 150;
    for (let seed = 0; seed < episodes; seed++)
      seen.push(...(await outcomes(world, tasks.at(seed % tasks.size) as Json, seed)));
    expect(Math.min(...seen)).toBeCloseTo(least, 9);
    if (neverFull.includes(name)) expect(Math.max(...seen)).toBeLessThan(most);
    else expect(Math.max(...seen)).toBeCloseTo(most, 9);
  },
);
