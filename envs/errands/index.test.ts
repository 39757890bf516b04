import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { madeKey } from '../../src/core/testing/made-episodes.ts';
import { playEpisode } from '../../src/env/play.ts';
import { wordRenderer } from '../../src/model/chat/renderer.ts';
import { WordTokenizer } from '../../src/model/tokenizer/word-tokenizer.ts';
import { scriptedPolicy } from '../../src/policy/scripted.ts';
import { summary } from '../../src/rollout/context/summary.ts';
import { runEpisode } from '../../src/rollout/episode.ts';
import { unwatched } from '../../src/rollout/watch.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { type ErrandState, errands, world } from './index.ts';
import { bestWithoutMemory, type Day, firstQuestion, gapOf, PLACES, placeOf, SHOPS, THINGS } from './town.ts';

const defaults = { turns: 24, orders: 2, changes: 1 };
const rng = Rng.of(0);

/** All that is read in a day, with what the expert does. */
function dayOf(options: typeof defaults, index: number): { reads: string[]; acts: string[]; day: Day } {
  const environment = errands(options);
  const day = environment.tasks('test').at(index);
  const start = environment.start(day, rng);
  let state = start.state;
  const reads = [start.messages[0]!.content];
  const acts: string[] = [];
  for (let turn = 0; turn < options.turns; turn++) {
    acts.push(environment.solve!(state, rng));
    const step = environment.step(state, acts.at(-1)!, rng);
    state = step.state;
    reads.push(step.observation);
  }
  expect(reads.at(-1)).toBe('right');
  return { reads, acts, day };
}

const lengths = [
  { turns: 24, orders: 2, changes: 1 },
  { turns: 30, orders: 4, changes: 2 },
  { turns: 60, orders: 4, changes: 4 },
  { turns: 600, orders: 8, changes: 8 },
];

describe('a day', () => {
  it('reads as the README shows', () => {
    const { reads, acts } = dayOf(defaults, 0);
    expect(reads.map((read, turn) => `${read} > ${acts[turn] ?? ''}`)).toMatchInlineSnapshot(`
      [
        "order letter cobbler letter inn > on",
        "order jar tailor jar bridge > on",
        "pass tower meet cooper > on",
        "pass farm meet tailor > on",
        "pass harbour meet potter > on",
        "pass bridge meet baker > on",
        "pass school meet cobbler > on",
        "pass church meet chandler > on",
        "pass inn meet butcher > on",
        "pass mill meet smith > on",
        "pass park meet cooper > on",
        "pass castle meet tailor > on",
        "pass well meet potter > on",
        "pass market meet baker > on",
        "pass tower meet cobbler > on",
        "pass farm meet chandler > on",
        "pass harbour meet butcher > on",
        "pass bridge meet smith > on",
        "pass school meet cooper > on",
        "change letter bridge > on",
        "fetch letter > cobbler",
        "bring letter > bridge",
        "fetch jar > tailor",
        "bring jar > bridge",
        "right > ",
      ]
    `);
  });

  it.each(lengths)(
    '$turns turns: every order is told at least 20 turns before it is asked for',
    (options) => {
      expect(gapOf(options)).toBe(20);
      const gaps = new Set<number>();
      for (let index = 0; index < 60; index++) {
        const { orders, changes } = errands(options).tasks('train').at(index);
        expect(orders).toHaveLength(options.orders);
        expect(changes.length).toBeLessThanOrEqual(options.changes);
        const told = [...orders, ...changes].map((one) => one.told);
        expect(new Set(told).size).toBe(told.length);
        expect(Math.max(...told)).toBeLessThan(firstQuestion(options));
        for (const [place, order] of orders.entries())
          gaps.add(firstQuestion(options) + 2 * place - order.told);
        for (const { order, told: at } of changes) expect(at).toBeGreaterThan(orders[order]!.told);
      }
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(20);
      if (options.turns === 24) expect(Math.min(...gaps)).toBe(20);
    },
  );

  it('a short day keeps fewer orders, and as long a gap as it has room for', () => {
    const short = { turns: 16, orders: 8, changes: 8 };
    const { orders } = errands(short).tasks('train').at(0);
    expect(orders).toHaveLength(4);
    for (const { told } of orders) expect(told).toBeLessThan(8);
    expect(gapOf({ turns: 16, orders: 4 })).toBe(8);
  });

  it('24 turns do not fit into 96 words, 60 not into 256', () => {
    for (const [options, most] of [
      [lengths[0]!, 96],
      [lengths[2]!, 256],
    ] as const) {
      for (let index = 0; index < 50; index++) {
        const { reads, acts } = dayOf(options, index);
        expect([...reads.slice(0, -1), ...acts].join(' ').split(' ').length).toBeGreaterThan(most);
      }
    }
  });

  it('tells an order as it was changed, and nothing when it is wrong before the end', () => {
    const environment = errands(defaults);
    const day = environment.tasks('test').at(0);
    let { state } = environment.start(day, rng);
    const rewards: number[] = [];
    for (let turn = 0; turn < 24; turn++) {
      const isFirst = turn === 20;
      const action = environment.solve!(state, rng);
      const step = environment.step(state, isFirst ? SHOPS.find((shop) => shop !== action)! : action, rng);
      rewards.push(step.reward);
      expect(step.done).toBe(turn === 23);
      if (step.done) expect(step).toMatchObject({ success: false, observation: 'wrong' });
      state = step.state;
    }
    expect(rewards).toEqual(Array.from({ length: 24 }, () => 0));
    const { order, place, told } = day.changes[0]!;
    expect(placeOf(day, order)).toBe(place);
    expect(placeOf(day, order, told - 1)).toBe(day.orders[order]!.place);
  });

  it('what is no answer is asked again', () => {
    const environment = errands(defaults);
    const { state } = environment.start(environment.tasks('test').at(0), rng);
    const step = environment.step(state, 'mill', rng);
    expect(step).toMatchObject({ state, valid: false, done: false, reward: 0 });
    expect(step.observation).toMatch(/^invalid /);
  });
});

describe('players', () => {
  it('the expert solves days of every length', async () => {
    for (const options of lengths) {
      const game = world.create(world.options.parse(options));
      const task = game.tasks('test').at(3);
      expect(await playEpisode(game, task, 3, 'expert')).toMatchObject({ success: true, outcome: 1 });
    }
  });

  it('scripted players do as the README says', { timeout: 60_000 }, async () => {
    expect(await scores(world.create(world.options.parse({})), 500)).toMatchInlineSnapshot(`
      [
        "expert 1.000 1.000 24.00",
        "beginner 0.526 0.526 24.00",
        "random 0.000 0.000 24.00",
      ]
    `);
  });

  it('without memory: all answers to the questions about shops, counted', () => {
    // Both things of a day, and both shops, are drawn without replacement, so each pair of names for two things is as good as
    // any other; counted over all pairs of shops.
    const right = (one: string, other: string): number => {
      const pairs = SHOPS.flatMap((a) => SHOPS.flatMap((b) => (a === b ? [] : [[a, b] as const])));
      return pairs.filter(([a, b]) => a === one && b === other).length / pairs.length;
    };
    const best = Math.max(...SHOPS.flatMap((one) => SHOPS.map((other) => right(one, other))));
    expect(bestWithoutMemory(2, true)).toBeCloseTo(best, 12);
    expect(best).toBeCloseTo(1 / 56, 12);
    expect(bestWithoutMemory(2, false)).toBeCloseTo(1 / 56 / PLACES.length ** 2, 12);
    expect(bestWithoutMemory(1, true)).toBe(1 / 8);
  });

  it('within 20 turns before a question nothing names the shop of its thing', () => {
    for (let index = 0; index < 200; index++) {
      const { reads } = dayOf(defaults, index);
      for (let turn = 20; turn < 24; turn += 2) {
        const thing = reads[turn]!.split(' ')[1]!;
        const seen = reads.slice(turn - 19, turn);
        expect(seen.filter((read) => read.startsWith('order') && read.includes(thing))).toEqual([]);
      }
    }
  });
});

describe('notes', () => {
  const environment = errands(defaults);
  /** A player who reads nothing but the notes of one turn and the questions. */
  const answerFrom = (notes: string, question: string): string => {
    const [kind, thing] = question.split(' ');
    const words = notes.split(' ');
    const facts = words.filter((_, at) => at % 2 === 1 && words[at - 1] === thing);
    return kind === 'fetch' ? facts[0]! : facts.at(-1)!;
  };

  it('are enough to answer every question', () => {
    for (let index = 0; index < 50; index++) {
      let { state } = environment.start(environment.tasks('test').at(index), rng);
      for (let turn = 0; turn < 24; turn++) {
        const action = environment.solve!(state, rng);
        if (turn === 20) expect(environment.notes!(state).split(' ')).toHaveLength(8);
        const step = environment.step(state, action, rng);
        const notes = environment.notes!(state);
        if (turn >= 19 && turn < 23)
          expect(answerFrom(notes, step.observation)).toBe(environment.solve!(step.state, rng));
        state = step.state as ErrandState;
      }
    }
  });

  it('tell nothing that was not told yet', () => {
    const day: Day = {
      orders: [
        { thing: 'box', shop: 'baker', place: 'mill', told: 1 },
        { thing: 'jar', shop: 'smith', place: 'inn', told: 3 },
      ],
      changes: [{ order: 0, place: 'park', told: 5 }],
      round: { place: 0, shop: 0, stride: 1 },
    };
    const notes = (turn: number) => environment.notes!({ ...day, turn, right: 0 });
    expect([0, 1, 3, 5, 21, 22, 24].map(notes)).toEqual([
      'nothing',
      'box baker box mill',
      'box baker box mill jar smith jar inn',
      'box baker box park jar smith jar inn',
      'box baker box park jar smith jar inn',
      'jar smith jar inn',
      'nothing',
    ]);
  });

  it('are what the expert writes in an episode whose context asks: 24 turns are won in 96 tokens', async () => {
    const game = world.create(world.options.parse({}));
    const words = [
      ...PLACES,
      ...SHOPS,
      ...THINGS,
      ...'order change pass meet fetch bring on right'.split(' '),
    ];
    const renderer = wordRenderer(WordTokenizer.fromTexts([...words, 'nothing', 'summarize']), 12);
    for (const contextLength of [96, 1000]) {
      const { calls, stop, success } = await runEpisode(
        { key: madeKey(), task: game.tasks('test').at(0) },
        {
          ...{ world: game, renderer, contextLength, maxTurns: 24, turnTimeoutMs: 5000, seed: 1 },
          policy: scriptedPolicy(game, { player: () => 'expert', randomRate: 0, renderer }),
          context: summary.create({ threshold: 64, instruction: 'summarize' }),
          sampling: { temperature: 1, topP: 1, topK: 0 },
          ...{ signal: new AbortController().signal, watch: unwatched },
        },
      );
      expect([stop, success]).toEqual(['done', { agent: true }]);
      const written = calls.filter(({ purpose }) => purpose === 'summarize').map(({ text }) => text);
      expect(written[0]).toBe('letter cobbler letter inn jar tailor jar bridge');
      expect(written.length).toBeGreaterThan(1);
    }
  });
});

it('keeps the laws in a day of 600 turns', { timeout: 60_000 }, () =>
  environmentLaws(world, { options: [{ turns: 600, orders: 8, changes: 8 }], episodes: 2 }),
);
