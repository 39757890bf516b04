import { expect, test } from 'vitest';
import { type Message, user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { fromGame } from '../from-game.ts';
import { defineGame } from '../game.ts';
import { naturalOpening } from '../wording.ts';
import type { World } from '../world.ts';
import { brokenWordingLaw } from './wording-law.ts';

interface Count {
  readonly left: number;
}

const game = defineGame<number, Count>({
  name: 'count',
  description: '',
  roles: ['a', 'b'],
  maxTurns: 4,
  tasks: () => ({ size: 1, at: () => 4 }),
  start: (left) => ({ left }),
  toMove: ({ left }) => (left === 0 ? undefined : left % 2 === 0 ? 'a' : 'b'),
  observe: ({ left }) => [user(`left ${left}`)],
  step: ({ left }, role, action) => {
    const valid = action === 'down';
    const state = { left: left - (valid ? 1 : 0) };
    return { state, rewards: { [role]: valid ? 1 : -1 }, done: state.left === 0, valid };
  },
  anchor: ({ left }) => String(left),
  actions: () => ['down'],
  natural: ({ left }): readonly Message[] =>
    left > 2
      ? naturalOpening('Count down.', [['8 are left.', 'down']], `${left} are left.`)
      : [user(`${left} are left.`)],
});

const compact = fromGame(game);
const natural = fromGame(game, { wording: 'natural' });

async function firstBroken(other: World): Promise<string | undefined> {
  for (let seed = 0; seed < 20; seed++) {
    const broken = await brokenWordingLaw(compact, other, 4, seed);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

test('wordings that differ in words alone break nothing', async () => {
  const session = await natural.open(4, Rng.of('test'));
  expect(session.observe('a')[0]).toEqual({ role: 'system', content: 'Count down.' });
  expect(await firstBroken(natural)).toBeUndefined();
});

test('another state, another reward and a missing opening are told', async () => {
  const changed = (parts: Partial<typeof game>): World =>
    fromGame({ ...game, observe: game.natural!, ...parts });
  expect([
    await firstBroken(changed({ anchor: () => 'here' })),
    await firstBroken(changed({ step: (...how) => ({ ...game.step(...how), rewards: {} }) })),
    await firstBroken(changed({ actions: () => ['down', 'up'] })),
    await firstBroken(compact),
  ]).toEqual([
    'after 0 turns the two wordings are in different states',
    'turn 0 has different results in the two wordings',
    'after 0 turns the two wordings are in different states',
    'the natural wording does not open with instructions',
  ]);
});
