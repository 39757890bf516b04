import { describe, expect, it } from 'vitest';
import { user } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { fromGame } from './from-game.ts';
import { defineGame, type GameStep } from './game.ts';
import { playEpisode } from './play.ts';

type Pile = { readonly stones: number; readonly mover: 'first' | 'second' };

/** Nim with one pile: take 1 or 2; who takes the last stone wins. */
const nim = defineGame<number, Pile>({
  name: 'nim',
  description: 'Take the last stone.',
  roles: ['first', 'second'],
  maxTurns: 10,
  tasks: () => ({ size: 10, at: (index) => index + 1 }),
  start: (stones) => ({ stones, mover: 'first' }),
  toMove: ({ stones, mover }) => (stones === 0 ? undefined : mover),
  observe: ({ stones }, role) => [user(`${role}: ${stones} left`)],
  step: ({ stones, mover }, role, action) => {
    const taken = Number(action);
    if (![1, 2].includes(taken) || taken > stones) {
      return { state: { stones, mover }, rewards: { [role]: -0.1 }, done: false, valid: false };
    }
    const other = mover === 'first' ? 'second' : 'first';
    const done = stones === taken;
    return {
      state: { stones: stones - taken, mover: other },
      rewards: done ? { [role]: 1, [other]: -1 } : {},
      ...(done ? { success: { [role]: true, [other]: false } } : {}),
      done,
      valid: true,
    };
  },
  anchor: ({ stones }, role) => `${role}:${stones}`,
  actions: ({ stones }) => (stones >= 2 ? ['1', '2'] : ['1']),
  solve: ({ stones }) => String(stones % 3 || 1),
});

const { signal } = new AbortController();

describe('session', () => {
  it('passes the move around and rewards both', async () => {
    const session = await fromGame(nim).open(3, Rng.of(0));
    expect(session.roles).toEqual(['first', 'second']);
    expect(session.observe('first')).toEqual([user('first: 3 left')]);
    expect(await session.step('1', signal)).toEqual({ rewards: {}, done: false, success: {}, valid: true });
    expect([session.toMove(), session.anchor('second')]).toEqual(['second', 'second:2']);
    expect(await session.step('9', signal)).toMatchObject({ rewards: { second: -0.1 }, valid: false });
    expect(session.toMove()).toBe('second');
    const twin = await (await session.snapshot!()).open();
    expect(await session.step('2', signal)).toEqual({
      rewards: { second: 1, first: -1 },
      done: true,
      success: { second: true, first: false },
      valid: true,
    });
    expect([session.toMove(), twin.toMove()]).toEqual([undefined, 'second']);
    await expect(session.step('1', signal)).rejects.toMatchObject({ code: 'episode-over' });
  });

  it('is played by scripts: the expert who starts wins unless the pile is a multiple of 3', async () => {
    const world = fromGame(nim);
    for (let stones = 1; stones <= 10; stones++) {
      const played = await playEpisode(world, stones, stones, 'expert');
      expect(played.success).toBe(stones % 3 !== 0);
      expect(played.outcome).toBe(stones % 3 === 0 ? -1 : 1);
      expect((await playEpisode(world, stones, stones, 'random')).done).toBe(true);
    }
  });
});

describe('broken games', () => {
  const failure = async (step: Partial<Record<keyof GameStep<Pile>, unknown>>): Promise<unknown> => {
    const broken = {
      ...nim,
      step: () => ({ ...nim.step({ stones: 3, mover: 'first' }, 'first', '1', Rng.of(0)), ...step }),
    };
    const session = await fromGame(broken as typeof nim).open(3, Rng.of(0));
    const error = await session.step('1', signal).catch((thrown: unknown) => thrown);
    expect(session.anchor('first')).toBe('first:3');
    return error;
  };

  it('say which role was paid what', async () => {
    expect(await failure({ rewards: { second: Number.NaN } })).toMatchInlineSnapshot(
      `[TurnwiseError: "nim" returned a reward for role "second" that is not a finite number. Seen: NaN. Allowed: any finite number. Look for a division by zero or a missing field in its step function.]`,
    );
    expect(await failure({ rewards: { secnod: 1 } })).toMatchInlineSnapshot(
      `[TurnwiseError: "nim" rewarded a role it does not have. Seen: "secnod". Allowed: "first", "second".]`,
    );
  });

  it('say where the state is not JSON', async () => {
    expect(await failure({ state: { stones: 1n, mover: 'first' } })).toMatchInlineSnapshot(
      `[TurnwiseError: The state of "nim" is not plain JSON. Seen: bigint at $.stones. Allowed: null, booleans, finite numbers, strings, arrays and plain objects. Keep only plain data in the state, or implement Session for a live environment.]`,
    );
  });
});
