import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { EXPERIMENTS, type Experiment, milestones, neededFor, planFrom, type Trial } from './experiments.ts';
import { scienceLab, world } from './index.ts';
import { type Lab, type Thing, thingOf } from './lab.ts';

const defaults = world.options.parse({});
const environment = scienceLab(defaults);
const rng = Rng.of(0);

/** What the rules of the experiment depend on: not on what the agent saw and was paid, nor on what is warm where nothing is heated. */
function keyOf({ experiment, lab }: Trial): string {
  if (!['mix', 'conduct', 'grow'].includes(experiment)) return JSON.stringify({ ...lab, seen: [] });
  const places = lab.things.map(({ at }) => at);
  return JSON.stringify({ ...lab, things: places, seen: [], isStoveOn: false, readings: {} });
}

/** Fewest commands by breadth-first search, with the steps of the environment alone; undefined if there are more than `most`. */
function fewest(start: Trial, most: number): number | undefined {
  let edge = [start];
  const seen = new Set([keyOf(start)]);
  for (let length = 1; length <= most; length++) {
    const next: Trial[] = [];
    for (const trial of edge) {
      for (const action of environment.actions!(trial)) {
        const { state, done, success } = environment.step(trial, action, rng);
        if (success) return length;
        const key = keyOf(state);
        if (!done && !seen.has(key)) next.push(state);
        seen.add(key);
      }
    }
    edge = next;
  }
  return undefined;
}

const thing = (name: string, at: string, degrees = 20): Thing => ({ name, at, degrees });
const lab = (parts: Partial<Lab> = {}): Lab => ({
  ...{ at: 'hall', seen: [], isStoveOn: false, isJugFull: false, contents: [], conductors: [] },
  ...{ tested: [], readings: {}, plants: {}, things: [thing('jug', 'yard'), thing('battery', 'study')] },
  ...parts,
});
const trial = (experiment: Experiment, target: string, parts: Partial<Lab>): Trial => ({
  ...{ experiment, target, reached: [] },
  lab: lab({
    ...parts,
    things: [
      ...lab().things.filter(({ name }) => !parts.things?.some((one) => one.name === name)),
      ...(parts.things ?? []),
    ],
  }),
});
const play = (start: Trial, ...actions: readonly string[]) => {
  let step = environment.step(start, actions[0]!, rng);
  for (const action of actions.slice(1)) step = environment.step(step.state, action, rng);
  return step;
};

describe('oracle', () => {
  it.each(EXPERIMENTS)(
    '%s: the expert needs as few commands as a search finds, from wherever random commands lead',
    { timeout: 240_000 },
    (experiment) => {
      const small = scienceLab({ ...defaults, experiment, distractors: 0 });
      const lengths = new Set<number>();
      for (let index = 0; index < 8; index++) {
        const wander = Rng.of('wander', index);
        const task = small.tasks('test').at(index);
        // What is not needed would only make the search longer.
        const things = task.lab.things.filter(({ name }) => neededFor(task).includes(name));
        let start: Trial = { ...task, lab: { ...task.lab, things } };
        for (let turn = index < 2 ? 0 : wander.int(14); turn > 0; turn--) {
          const step = small.step(start, wander.pick(small.actions!(start)), rng);
          if (!step.done) start = step.state;
        }
        // Near enough to its end for a search.
        const most = experiment === 'grow' ? 12 : 4 + (index % 4);
        for (let plan = planFrom(start); plan.length > most; plan = planFrom(start))
          start = small.step(start, plan[0]!, rng).state;
        const plan = planFrom(start);
        lengths.add(plan.length);
        expect(play(start, ...plan)).toMatchObject({ done: true, success: true, valid: true });
        expect(fewest(start, plan.length)).toBe(plan.length);
      }
      expect(lengths.size).toBeGreaterThan(1);
    },
  );

  it('the expert follows its plan, which gets one command shorter each turn, and earns 1', async () => {
    const game = world.create(defaults);
    for (let index = 0; index < 40; index++) {
      const task = environment.tasks('test').at(index);
      const played = await playEpisode(game, task as never, index, 'expert');
      expect(played).toMatchObject({ success: true });
      expect(played.outcome).toBeCloseTo(1, 12);
      expect(played.turns).toHaveLength(planFrom(task).length);
      for (const { info } of played.turns) expect(info).toMatchObject({ credit: { dense: 1 } });
    }
  });

  it('the beginner does not know what it has not seen', () => {
    const firsts = (at: string) => {
      const start = trial('melt', 'wax', { things: [thing('wax', at)] });
      return Array.from({ length: 40 }, (_, seed) => environment.stumble!(start, Rng.of('search', seed)));
    };
    expect(firsts('store')).toEqual(firsts('kitchen'));
    expect(new Set(firsts('store')).size).toBeGreaterThan(5);
  });

  it('scripted players do as the README says', { timeout: 60_000 }, async () => {
    expect(await scores(world.create(defaults), 200)).toMatchInlineSnapshot(`
      [
        "expert 1.000 1.000 7.07",
        "beginner 1.000 1.000 11.00",
        "random 0.010 0.258 29.87",
      ]
    `);
  });
});

describe('rules', () => {
  it('the stove heats while it is on, the freezer always cools, by 40 degrees a turn', () => {
    const wax = trial('melt', 'wax', { at: 'kitchen', things: [thing('wax', 'hand')] });
    const put = play(wax, 'put wax on stove', 'wait').state;
    expect(thingOf(put.lab, 'wax').degrees).toBe(20);
    expect(play(put, 'turn on stove')).toMatchObject({ done: true, success: true });
    const sugar = trial('melt', 'sugar', { at: 'kitchen', things: [thing('sugar', 'stove', 180)] });
    expect(play(sugar, 'put sugar in freezer', 'wait').state.lab.things.at(-1)!.degrees).toBe(100);
    const mercury = trial('freeze', 'mercury', { at: 'kitchen', things: [thing('mercury', 'hand')] });
    expect(play(mercury, 'put mercury in freezer')).toMatchObject({ done: false });
    expect(play(mercury, 'put mercury in freezer', 'wait')).toMatchObject({ done: true, success: true });
    expect(play(mercury, 'put battery on stove').valid).toBe(false);
  });

  it('nothing grows hotter than the stove or colder than the freezer', () => {
    const oil = trial('melt', 'wax', {
      at: 'kitchen',
      isStoveOn: true,
      things: [thing('wax', 'yard'), thing('oil', 'stove', 200)],
    });
    expect(thingOf(play(oil, 'wait', 'wait').state.lab, 'oil').degrees).toBe(220);
    expect(
      thingOf(play(oil, ...['put oil in freezer'], ...Array(9).fill('wait')).state.lab, 'oil').degrees,
    ).toBe(-80);
  });

  it('only a closed circuit shows whether a lump conducts, and only then boxes take it', () => {
    const start = trial('conduct', 'jade', {
      at: 'workshop',
      conductors: ['jade'],
      things: [thing('jade', 'hand'), thing('battery', 'hand')],
    });
    expect(play(start, 'put jade in yellow box').valid).toBe(false);
    const open = play(start, 'connect jade');
    expect(open.observation).not.toContain('lit');
    const closed = play(open.state, 'connect battery');
    expect(closed.observation).toMatch(/^conduct jade lit at workshop/);
    expect(play(closed.state, 'put jade in yellow box')).toMatchObject({ done: true, success: true });
    expect(play(closed.state, 'put jade in blue box')).toMatchObject({
      done: true,
      success: false,
      reward: 0,
      observation: 'wrong',
    });
    expect(
      play({ ...start, lab: { ...start.lab, conductors: [] } }, 'connect jade', 'connect battery')
        .observation,
    ).toContain('jade dark');
  });

  it('another lump takes the place in the circuit', () => {
    const start = trial('conduct', 'jade', {
      at: 'workshop',
      things: [thing('jade', 'hand'), thing('opal', 'hand'), thing('battery', 'circuit')],
    });
    const { state } = play(start, 'connect jade', 'connect opal');
    expect([thingOf(state.lab, 'jade').at, thingOf(state.lab, 'opal').at]).toEqual(['workshop', 'circuit']);
    expect(state.lab.tested).toEqual(['jade', 'opal']);
  });

  it('a sample is sorted by what the thermometer showed', () => {
    for (const [degrees, word, box] of [
      [60, 'warm', 'yellow box'],
      [40, 'cold', 'blue box'],
    ] as const) {
      const start = trial('measure', 'gel', { at: 'kitchen', things: [thing('gel', 'hand', degrees)] });
      expect(play(start, 'measure gel').observation).toMatch(new RegExp(`^measure gel ${word} at kitchen`));
      expect(play(start, 'measure gel', 'go to workshop', `put gel in ${box}`)).toMatchObject({
        done: true,
        success: true,
      });
    }
    // A lump is not sorted by its temperature.
    const jade = trial('conduct', 'jade', { at: 'kitchen', things: [thing('jade', 'hand')] });
    expect(play(jade, 'measure jade', 'go to workshop', 'put jade in blue box').valid).toBe(false);
  });

  it('only the things of a recipe mix, and a beaker can be emptied', () => {
    const things = ['blue', 'red', 'yellow'].map((name) => thing(name, 'hand'));
    const start = trial('mix', 'purple', { at: 'workshop', things });
    expect(play(start, 'pour blue', 'mix').valid).toBe(false);
    expect(play(start, 'pour blue', 'pour yellow', 'mix').state.lab.contents).toEqual(['green']);
    expect(
      play(start, 'pour blue', 'pour yellow', 'mix', 'empty beaker', 'pour red', 'pour blue', 'mix'),
    ).toMatchObject({ done: true, success: true });
  });

  it('a plant grows while it is moist, three turns after each watering', () => {
    const start = trial('grow', 'tomato', {
      at: 'greenhouse',
      isJugFull: true,
      things: [thing('tomato', 'bed'), thing('jug', 'hand')],
      plants: { tomato: [0, 0] },
    });
    expect(play(start, 'wait').state.lab.plants).toEqual({ tomato: [0, 0] });
    const dry = play(start, 'water tomato', 'wait', 'wait', 'wait');
    expect(dry.state.lab.plants).toEqual({ tomato: [3, 0] });
    expect(dry.observation).toContain('bed tomato thirsty');
    expect(play(dry.state, 'water tomato')).toMatchObject({ done: true, success: true });
  });

  it('each milestone pays its share once', () => {
    const start = trial('boil', 'juice', { things: [thing('juice', 'yard')] });
    const paid = [
      'go to yard',
      'take juice',
      'go to kitchen',
      'put juice on stove',
      'take juice',
      'put juice on stove',
      'turn on stove',
      'turn off stove',
      'turn on stove',
    ];
    const rewards: number[] = [];
    let state = start;
    for (const command of paid) {
      const step = environment.step(state, command, rng);
      rewards.push(step.reward);
      state = step.state;
    }
    expect(rewards).toEqual([0.25, 0, 0, 0.25, 0, 0, 0.25, 0, 0.25]);
  });

  it('new trials are not done, and every experiment is drawn', () => {
    const tasks = Array.from({ length: 80 }, (_, index) => environment.tasks('train').at(index));
    expect(new Set(tasks.map(({ experiment }) => experiment))).toEqual(new Set(EXPERIMENTS));
    for (const task of tasks) {
      expect(Object.values(milestones(task))).not.toContain(true);
      expect(planFrom(task).length).toBeGreaterThan(1);
    }
  });
});

it('both wordings say the same', () => {
  const start = trial('conduct', 'jade', {
    at: 'workshop',
    seen: ['workshop', 'study'],
    conductors: ['jade'],
    things: [thing('jade', 'circuit'), thing('battery', 'circuit'), thing('wax', 'workshop')],
    tested: ['jade'],
  });
  const { state, observation } = play(start, 'take wax');
  expect(observation).toMatchInlineSnapshot(
    `"conduct jade lit at workshop circuit jade battery beaker hand solid wax unseen kitchen greenhouse store yard"`,
  );
  expect(environment.natural!.observe(state)).toMatchInlineSnapshot(
    `"Task: find out whether the jade conducts, and put it in the yellow box if it does, else in the blue box. You are in the workshop. You see: nothing. In the circuit: jade, battery. In the beaker: nothing. There are a yellow box and a blue box. With the jade the lamp was lit. You hold: solid wax. Not seen yet: kitchen, greenhouse, store, yard. You may: take jade, put jade in yellow box, put jade in blue box, take battery, go to kitchen, go to greenhouse, go to store, go to study, go to yard, wait."`,
  );
});

it('keeps the laws with many things and none', { timeout: 60_000 }, () =>
  environmentLaws(world, { options: [{ distractors: 12 }, { distractors: 0 }], episodes: 10 }),
);
