import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { atStart, commands, DOORS, type House, isSolved, planFrom, ROOMS } from './house.ts';
import { textNav, world } from './index.ts';

const defaults = world.options.parse({});
const environment = textNav(defaults);
const rng = Rng.of(0);

/** Breadth first over whole houses, by nothing but the admissible commands. */
function fewest(start: House): number {
  const seen = new Set([JSON.stringify(start)]);
  let edge = [start];
  for (let length = 0; edge.length > 0; length++) {
    if (edge.some(isSolved)) return length;
    edge = edge.flatMap((house) =>
      [...commands(house)].flatMap(([command, next]) => {
        const key = JSON.stringify(next);
        // What else there is can only be moved in vain; searching that too takes minutes.
        if (seen.has(key) || /bowl|fresh|cup|plate|utensils|fruit|chest/.test(command)) return [];
        seen.add(key);
        return [next];
      }),
    );
  }
  return Number.POSITIVE_INFINITY;
}

describe('oracle', () => {
  test('the fewest commands by start room, 7.625 on average', async () => {
    const lengths = Object.fromEntries(ROOMS.map((room) => [room, fewest(atStart(room))]));
    expect(lengths).toEqual({
      'living room': 6,
      bedroom: 7,
      'dining room': 7,
      office: 7,
      kitchen: 8,
      bathroom: 8,
      garden: 9,
      backyard: 9,
    });
    expect(Object.values(lengths).reduce((a, b) => a + b) / 8).toBe(7.625);
    for (const room of ROOMS) {
      const played = await playEpisode(world.create(defaults), room, 0, 'expert');
      expect(played).toMatchObject({ outcome: 1, success: true });
      expect(played.turns).toHaveLength(lengths[room]!);
    }
  });

  test('the plan is as short as the search finds from wherever random commands lead', () => {
    for (let seed = 0; seed < 60; seed++) {
      const choices = Rng.of('wander', seed);
      let house = atStart(choices.pick(ROOMS));
      for (let turn = choices.int(12); turn > 0 && !isSolved(house); turn--) {
        const options = [...commands(house)].filter(([command]) => command !== 'eat stale food');
        house = choices.pick(options)[1];
      }
      if (!isSolved(house)) expect(planFrom(house)!.length).toBe(fewest(house));
    }
  });

  test('doors lead back', () => {
    const back = { north: 'south', south: 'north', east: 'west', west: 'east' } as const;
    const ways = Object.entries(DOORS).flatMap(([room, doors]) =>
      Object.entries(doors).map(([way, to]) => ({ room, way, to })),
    );
    // LMRL-Gym's bathroom lies both south of the bedroom and east of the office.
    expect(ways).toHaveLength(16);
    for (const { room, way, to } of ways) expect(DOORS[to]![back[way as 'north']]).toBe(room);
  });
});

describe('rules', () => {
  test('a closed fridge hides what is inside, and the goal needs it closed', () => {
    const kitchen = atStart('kitchen');
    expect(environment.actions!(kitchen)).toEqual(['go north', 'go east', 'go west', 'open fridge']);
    const open = environment.step(kitchen, 'open fridge', rng);
    expect(open.observation).toBe('kitchen north east west fridge:open fruit');
    const carrying = { ...open.state, places: { ...open.state.places, 'stale food': 'held' } };
    const inside = environment.step(carrying, 'insert stale food into fridge', rng);
    expect(inside).toMatchObject({ reward: 0, done: false });
    expect(environment.step(inside.state, 'close fridge', rng)).toMatchObject({
      reward: 1,
      done: true,
      success: true,
    });
  });

  test('eating the stale food fails', () => {
    const held = { ...atStart('garden'), places: { ...atStart('garden').places, 'stale food': 'held' } };
    expect(environment.step(held, 'eat stale food', rng)).toMatchObject({
      reward: 0,
      done: true,
      success: false,
      observation: 'eaten',
    });
  });

  test('a command that is not admissible changes nothing', () => {
    const step = environment.step(atStart('bedroom'), 'go east', rng);
    expect(step).toMatchObject({ valid: false, reward: 0, done: false, state: atStart('bedroom') });
    expect(step.observation).toBe('invalid bedroom south west table bowl');
  });

  test('partially observed, neither the room nor what is carried is named', () => {
    const partial = textNav({ ...defaults, observed: 'partially' });
    const taken = partial.step(atStart('living room'), 'take stale food from table', rng);
    expect(taken.observation).toBe('south east west table fresh-food');
    expect(environment.step(atStart('living room'), 'take stale food from table', rng).observation).toBe(
      'living-room held:stale-food south east west table fresh-food',
    );
  });

  test('in sentences it names the admissible commands', () => {
    expect(environment.natural!.observe(atStart('bedroom'))).toBe(
      'You are in the bedroom. There is a table with bowl. You carry nothing. You may: go south, go west, take bowl from table.',
    );
  });

  test('held-out rooms are the tests, and in no training task', () => {
    const split = textNav({ ...defaults, heldOutStarts: 3 });
    const rooms = (name: 'train' | 'test') =>
      Array.from({ length: split.tasks(name).size }, (_, i) => split.tasks(name).at(i));
    expect(rooms('test')).toHaveLength(3);
    expect([...rooms('train'), ...rooms('test')].sort()).toEqual([...ROOMS].sort());
  });
});
