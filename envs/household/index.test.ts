import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { CHORES, type House, planFrom, type Thing } from './house.ts';
import { household, world } from './index.ts';

const defaults = world.options.parse({});
const environment = household(defaults);
const rng = Rng.of(0);

/** All that the rules depend on: what the agent remembers of other places changes nothing. */
const keyOf = ({ things, isLit, at, open }: House): string => JSON.stringify({ things, isLit, at, open });

/** Fewest commands by breadth-first search over houses, with the steps of the environment alone. */
function fewest(start: House): number {
  let edge = [start];
  const seen = new Set([keyOf(start)]);
  for (let length = 1; edge.length > 0; length++) {
    const next: House[] = [];
    for (const house of edge) {
      for (const action of environment.actions!(house)) {
        const { state, done } = environment.step(house, action, rng);
        if (done) return length;
        const key = keyOf(state);
        if (!seen.has(key)) next.push(state);
        seen.add(key);
      }
    }
    edge = next;
  }
  return Number.POSITIVE_INFINITY;
}

const thing = (name: string, at: string, ...is: string[]): Thing => ({ name, at, is });
/** A house in the middle of its chore. */
const house = (parts: Partial<House> = {}): House => ({
  ...{ chore: 'heat', target: 'jug', goal: 'desk', lamp: 'desk', isLit: false, at: 'crate', seen: [] },
  ...{ places: ['desk', 'crate', 'sink', 'oven', 'fridge'], open: ['crate'] },
  things: [thing('jug', 'crate'), thing('map', 'crate')],
  ...parts,
});
const play = (start: House, ...actions: readonly string[]) => {
  let step = environment.step(start, actions[0]!, rng);
  for (const action of actions.slice(1)) step = environment.step(step.state, action, rng);
  return step;
};

describe('oracle', () => {
  it.each(CHORES)(
    '%s: the expert needs as few commands as a search finds, from wherever random commands lead',
    { timeout: 60_000 },
    (chore) => {
      const small = household({ ...defaults, chore, size: 2, distractors: 1 });
      const lengths = new Set<number>();
      for (let index = 0; index < 16; index++) {
        const wander = Rng.of('wander', index);
        let start = small.tasks('test').at(index);
        for (let turn = index === 0 ? 0 : wander.int(12); turn > 0; turn--) {
          const step = small.step(start, wander.pick(small.actions!(start)), rng);
          if (!step.done) start = step.state;
        }
        const plan = planFrom(start);
        lengths.add(plan.length);
        expect(play(start, ...plan)).toMatchObject({ done: true, success: true, valid: true });
        expect(plan).toHaveLength(fewest(start));
      }
      expect(lengths.size).toBeGreaterThan(2);
    },
  );

  it('the expert follows its plan, which gets one command shorter each turn', async () => {
    const game = world.create(defaults);
    for (let index = 0; index < 40; index++) {
      const task = environment.tasks('test').at(index);
      const played = await playEpisode(game, task as never, index, 'expert');
      expect(played).toMatchObject({ success: true, outcome: 1 });
      expect(played.turns).toHaveLength(planFrom(task).length);
      for (const { info } of played.turns) expect(info).toMatchObject({ credit: { dense: 1 } });
    }
  });

  it('the beginner does not know what it has not seen', () => {
    const outcomes = (at: string) => {
      const start = house({ at: 'door', open: [], things: [thing('jug', at)] });
      return Array.from({ length: 40 }, (_, seed) => environment.stumble!(start, Rng.of('search', seed)));
    };
    expect(outcomes('oven')).toEqual(outcomes('crate'));
    expect(new Set(outcomes('oven')).size).toBe(5);
  });

  it('scripted players do as the README says', { timeout: 60_000 }, async () => {
    expect(await scores(world.create(defaults), 200)).toMatchInlineSnapshot(`
      [
        "expert 1.000 1.000 6.56",
        "beginner 1.000 1.000 12.13",
        "random 0.005 0.005 29.92",
      ]
    `);
  });
});

describe('rules', () => {
  it('a closed place hides what is inside until it is opened', () => {
    const closed = house({ open: [] });
    expect(environment.actions!(closed)).toEqual([
      'open crate',
      ...['desk', 'sink', 'oven', 'fridge'].map((place) => `go to ${place}`),
    ]);
    expect(play(closed, 'take jug from crate')).toMatchObject({ valid: false, state: closed });
    expect(play(closed, 'go to oven', 'go to crate').state.seen).toEqual([]);
    expect(environment.stumble!(closed, Rng.of('search', 0))).toBe('open crate');
    const open = play(closed, 'open crate');
    expect(open.observation).toBe(
      'heat jug desk hand empty at crate wanted jug map unseen desk sink oven fridge',
    );
    expect(open.state.seen).toEqual(['crate']);
    expect(play(open.state, 'close crate').observation).toBe(
      'heat jug desk hand empty at crate closed unseen desk sink oven fridge',
    );
  });

  it('a hand holds one thing, and only places take it', () => {
    const held = play(house(), 'take jug from crate');
    expect(held.observation).toContain('hand jug at crate map unseen');
    expect(play(held.state, 'take map from crate').valid).toBe(false);
    expect(play(held.state, 'put jug in oven').valid).toBe(false);
    expect(play(held.state, 'go to oven', 'put jug in oven').valid).toBe(false);
    expect(play(held.state, 'go to oven', 'open oven', 'put jug in oven').state.things[0]!.at).toBe('oven');
    expect(play({ ...held.state, at: 'door' }, 'put jug on door').valid).toBe(false);
  });

  it('heat undoes cold and leaves clean; each needs its appliance, and a thing that it fits', () => {
    const held = house({ at: 'fridge', things: [thing('jug', 'hand', 'clean')] });
    const cold = play(held, 'cool jug with fridge');
    expect(cold.state.things[0]!.is).toEqual(['clean', 'cold']);
    expect(play(cold.state, 'go to oven', 'heat jug with oven').state.things[0]!.is).toEqual([
      'clean',
      'hot',
    ]);
    expect(play(held, 'heat jug with oven').valid).toBe(false);
    expect(play(house({ at: 'oven', things: [thing('map', 'hand')] }), 'heat map with oven').valid).toBe(
      false,
    );
  });

  it('each chore is done by its own deed', () => {
    const inHand = { at: 'desk', things: [thing('jug', 'hand')] };
    const put = (parts: Partial<House>) => play(house({ ...inHand, ...parts }), 'put jug on desk').done;
    expect(put({ chore: 'place' })).toBe(true);
    expect(put({ chore: 'place', goal: 'sink' })).toBe(false);
    for (const [chore, is] of [
      ['clean', 'clean'],
      ['heat', 'hot'],
      ['cool', 'cold'],
    ] as const) {
      expect(put({ chore })).toBe(false);
      expect(put({ chore, things: [thing('jug', 'hand', is)] })).toBe(true);
    }
    expect(put({ chore: 'two', things: [thing('jug', 'hand'), thing('jug', 'crate')] })).toBe(false);
    expect(put({ chore: 'two', things: [thing('jug', 'hand'), thing('jug', 'desk')] })).toBe(true);
  });

  it('a thing is looked at in the hand and in the light, whichever comes first', () => {
    const light = { chore: 'light', target: 'map', goal: '', things: [thing('map', 'crate')] } as const;
    expect(play(house(light), 'go to desk', 'use lamp')).toMatchObject({ done: false, valid: true });
    expect(play(house(light), 'take map from crate', 'use lamp').valid).toBe(false);
    expect(play(house(light), 'take map from crate', 'go to desk', 'use lamp').done).toBe(true);
    const lit = play(house(light), 'go to desk', 'use lamp', 'go to crate', 'take map from crate');
    expect(lit.done).toBe(false);
    expect(play(lit.state, 'go to desk').done).toBe(true);
  });

  it('new chores are not yet done, and every kind of chore is drawn', () => {
    const tasks = Array.from({ length: 60 }, (_, index) => environment.tasks('train').at(index));
    expect(new Set(tasks.map(({ chore }) => chore))).toEqual(new Set(CHORES));
    for (const task of tasks) {
      expect(planFrom(task).length).toBeGreaterThan(1);
      expect(task.places).toHaveLength(7);
      expect(task.things).toHaveLength(task.chore === 'two' ? 5 : 4);
    }
  });
});

describe('wording', () => {
  const cold = house({ things: [thing('jug', 'hand', 'clean', 'cold'), thing('map', 'desk')], at: 'desk' });

  it('says the chore, what is held, what is here and what was not seen', () => {
    const two = { chore: 'two', at: 'desk', things: [thing('jug', 'desk'), thing('jug', 'crate')] } as const;
    expect(play(house(two), 'use lamp', 'go to crate', 'go to desk').observation).toMatchInlineSnapshot(
      `"two jug desk hand empty at desk lit jug unseen sink oven fridge"`,
    );
    expect(environment.natural!.observe(cold)).toMatchInlineSnapshot(
      `"Chore: put a hot jug on the desk. You are at the desk. You see a lamp that is off, a map. You hold a clean cold jug. Not seen yet: desk, crate, sink, oven, fridge. You may: put jug on desk, use lamp, go to crate, go to sink, go to oven, go to fridge."`,
    );
    expect(environment.natural!.observe(house({ at: 'oven' }))).toMatchInlineSnapshot(
      `"Chore: put a hot jug on the desk. You are at the oven. It is closed. You hold nothing. Not seen yet: desk, crate, sink, oven, fridge. You may: open oven, go to desk, go to crate, go to sink, go to fridge."`,
    );
    expect(play(house(), 'go to desk').observation).toMatchInlineSnapshot(
      `"heat jug desk hand empty at desk lamp unseen crate sink oven fridge"`,
    );
  });

  it('lists the admissible commands when it is told to', () => {
    const listed =
      / (may|You may:) put jug on desk, use lamp, go to crate, go to sink, go to oven, go to fridge\.?$/;
    for (const [commands, compact, natural] of [
      ['sentences', false, true],
      ['always', true, true],
      ['never', false, false],
    ] as const) {
      const told = household({ ...defaults, commands });
      expect(listed.test(told.start(cold, rng).messages[0]!.content)).toBe(compact);
      expect(listed.test(told.natural!.observe(cold))).toBe(natural);
    }
  });
});

it('keeps the laws in the largest and the smallest house', { timeout: 60_000 }, () =>
  environmentLaws(world, {
    options: [
      { size: 8, distractors: 12 },
      { size: 2, distractors: 0 },
    ],
    episodes: 10,
  }),
);
