import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { missions, world } from './index.ts';
import { ACTIONS, keyOf, planFrom, type Room, VERBS } from './room.ts';

const defaults = world.options.parse({});
const environment = missions(defaults);
const rng = Rng.of(0);

/** Fewest actions by deepening over everything that can be done, with the steps of the environment alone. */
function fewest(room: Room, most: number): number | undefined {
  let edge = [{ room, turn: 0 }];
  const seen = new Set([keyOf(room)]);
  for (let length = 1; length <= most; length++) {
    const next: typeof edge = [];
    for (const state of edge) {
      for (const action of ACTIONS) {
        const step = environment.step(state, action, rng);
        // Another way would be to carry things out of the way.
        if (!['', room.target].includes(step.state.room.carried)) continue;
        if (step.done) return length;
        if (!seen.has(keyOf(step.state.room))) next.push(step.state);
        seen.add(keyOf(step.state.room));
      }
    }
    edge = next;
  }
  return undefined;
}

/** A room of three rows: the agent in the middle looks right. */
const room = (parts: Partial<Room>): Room => ({
  ...{ size: 3, verb: 'goto', target: 'red-ball', beside: '', x: 2, y: 2, facing: 0, carried: '', open: [] },
  things: [
    { name: 'red-ball', x: 2, y: 1 },
    { name: 'blue-box', x: 1, y: 3 },
    { name: 'green-door', x: 4, y: 2 },
  ],
  ...parts,
});
const play = (start: Room, ...actions: readonly string[]) => {
  let step = environment.step({ room: start, turn: 0 }, actions[0]!, rng);
  for (const action of actions.slice(1)) step = environment.step(step.state, action, rng);
  return step;
};

describe('oracle', () => {
  it.each(VERBS)('%s: the expert needs as few actions as a search finds', async (mission) => {
    const game = world.create({ ...defaults, mission, size: 3, things: 2 });
    for (let index = 0; index < (mission === 'put' ? 4 : 15); index++) {
      const task = game.tasks('test').at(index) as Room;
      const played = await playEpisode(game, task, index, 'expert');
      expect(played.success).toBe(true);
      expect(played.turns).toHaveLength(fewest(task, 20)!);
      expect(played.outcome).toBeCloseTo(1 - (0.9 * played.turns.length) / 20, 10);
    }
  });

  it('scripted players do as the README says', async () => {
    expect(await scores(world.create(defaults), 200)).toMatchInlineSnapshot(`
      [
        "expert 1.000 0.814 4.14",
        "beginner 0.855 0.566 9.31",
        "random 0.180 0.108 17.99",
      ]
    `);
  });
});

describe('rules', () => {
  it('each mission is done by its own deed', () => {
    expect(play(room({}), 'turn left')).toMatchObject({ done: true, success: true });
    expect(play(room({ verb: 'pickup' }), 'turn left').done).toBe(false);
    expect(play(room({ verb: 'pickup' }), 'turn left', 'pickup').done).toBe(true);
    expect(play(room({ verb: 'open', target: 'green-door' }), 'move forward').done).toBe(false);
    expect(play(room({ verb: 'open', target: 'green-door' }), 'move forward', 'toggle').done).toBe(true);
    const put = room({ verb: 'put', beside: 'blue-box' });
    expect(planFrom(put)).toHaveLength(4);
    expect(play(put, ...planFrom(put)!).done).toBe(true);
  });

  it('walls, things and doors stop a move; hands hold one thing; doors stay', () => {
    const before = room({});
    const same = (start: Room, action: string) =>
      expect(environment.step({ room: start, turn: 0 }, action, rng)).toMatchObject({
        state: { room: start },
        valid: true,
      });
    same(before, 'drop');
    same(before, 'pickup');
    same(before, 'toggle');
    same(room({ x: 3 }), 'move forward');
    same(room({ x: 3 }), 'pickup');
    same(room({ x: 1, facing: 1, carried: 'grey-key' }), 'pickup');
    same(room({ x: 1, facing: 1 }), 'move forward');
    expect(environment.step({ room: before, turn: 0 }, 'fly', rng)).toMatchObject({
      valid: false,
      state: { room: before, turn: 1 },
    });
  });

  it('places are told as the agent sees them', () => {
    expect(
      [0, 1, 2, 3].map((facing) => environment.start(room({ facing }), rng).messages[0]!.content),
    ).toMatchInlineSnapshot(`
      [
        "red-ball ahead0 side-1 blue-box ahead-1 side1 green-door ahead2 side0 front:free goto red-ball",
        "red-ball ahead-1 side0 blue-box ahead1 side1 green-door ahead0 side-2 front:free goto red-ball",
        "red-ball ahead0 side1 blue-box ahead1 side-1 green-door ahead-2 side0 front:free goto red-ball",
        "red-ball ahead1 side0 blue-box ahead-1 side-1 green-door ahead0 side2 front:red-ball goto red-ball",
      ]
    `);
    expect(
      environment.natural!.observe({ room: room({ verb: 'put', beside: 'blue-box', facing: 3 }), turn: 0 }),
    ).toMatchInlineSnapshot(
      `"Mission: put the red ball next to the blue box. You see a red ball 1 in front; a blue box 1 behind and 1 to the left; a green door 2 to the right. The red ball is right ahead. You carry nothing."`,
    );
  });
});

it('keeps the laws with the hardest mission', { timeout: 60_000 }, () =>
  environmentLaws(world, { options: [{ size: 4, things: 4, mission: 'put' }], episodes: 3 }),
);
