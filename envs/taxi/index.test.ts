import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { ABOARD, ACTIONS, STARTS, type TaxiState, taxi, world } from './index.ts';

const environment = taxi({ maxTurns: 40 });
const rng = Rng.of(0);
const at = (row: number, column: number, passenger: number, destination: number): TaxiState => ({
  ...{ row, column, passenger, destination },
  way: 10,
});

/** Fewest actions to the end from each state, searched with the rules alone. */
function searched(): ReadonlyMap<string, number> {
  const key = (state: TaxiState): string => environment.anchor!(state);
  const before = new Map<string, TaxiState[]>();
  const last: TaxiState[] = [];
  for (let number = 0; number < 25 * 5 * 4; number++) {
    const state = at(
      Math.floor(number / 100),
      Math.floor(number / 20) % 5,
      (Math.floor(number / 4) % 5) - 1,
      number % 4,
    );
    for (const action of ACTIONS) {
      const step = environment.step(state, action, rng);
      if (step.reward === -10) continue;
      if (step.done) last.push(state);
      else before.set(key(step.state), [...(before.get(key(step.state)) ?? []), state]);
    }
  }
  const found = new Map(last.map((state) => [key(state), 1]));
  const queue = [...last];
  for (const state of queue) {
    for (const earlier of before.get(key(state)) ?? []) {
      if (found.has(key(earlier))) continue;
      found.set(key(earlier), found.get(key(state))! + 1);
      queue.push(earlier);
    }
  }
  return found;
}

describe('oracle', () => {
  it('the best driver earns 7.93 over all 300 starts, in 13.07 actions and at most 18', async () => {
    const lengths = searched();
    const game = world.create(world.options.parse({}));
    let outcome = 0;
    let turns = 0;
    let most = 0;
    expect(STARTS).toHaveLength(300);
    for (const [seed, task] of STARTS.entries()) {
      const played = await playEpisode(game, task, seed, 'expert');
      expect(played.success).toBe(true);
      expect(played.turns).toHaveLength(lengths.get(environment.anchor!({ ...task, way: 0 }))!);
      outcome += played.outcome / 300;
      turns += played.turns.length / 300;
      most = Math.max(most, played.turns.length);
    }
    expect(outcome).toBeCloseTo(7.93, 2);
    expect(turns).toBeCloseTo(13.07, 2);
    expect(most).toBe(18);
  });

  it('scripted players do as the README says', async () => {
    expect(await scores(world.create(world.options.parse({})), 300)).toMatchInlineSnapshot(`
      [
        "expert 1.000 7.767 13.23",
        "beginner 0.213 -48.120 27.16",
        "random 0.003 -122.220 29.98",
      ]
    `);
  });
});

describe('rules', () => {
  it('walls and the edge stop a move, which costs 1 as any other', () => {
    for (const [row, column, side] of [
      [0, 1, 'east'],
      [1, 2, 'west'],
      [3, 0, 'east'],
      [4, 3, 'west'],
      [0, 2, 'north'],
    ] as const) {
      const state = at(row, column, 0, 1);
      expect(environment.step(state, side, rng)).toMatchObject({
        state,
        reward: -1,
        valid: true,
        done: false,
      });
    }
    expect(environment.step(at(2, 1, 0, 1), 'east', rng).state).toMatchObject({ row: 2, column: 2 });
  });

  it('a passenger boards and leaves at stations only', () => {
    expect(environment.step(at(0, 0, 0, 1), 'pickup', rng)).toMatchObject({
      reward: -1,
      state: { passenger: ABOARD },
    });
    expect(environment.step(at(0, 0, 2, 1), 'pickup', rng)).toMatchObject({
      reward: -10,
      state: { passenger: 2 },
    });
    expect(environment.step(at(2, 2, ABOARD, 1), 'dropoff', rng)).toMatchObject({ reward: -10, done: false });
    expect(environment.step(at(0, 4, 0, 1), 'dropoff', rng)).toMatchObject({ reward: -10, done: false });
    // As in Gymnasium: at a wrong station the passenger gets out, and waits there.
    expect(environment.step(at(4, 0, ABOARD, 1), 'dropoff', rng)).toMatchObject({
      ...{ reward: -1, done: false },
      state: { passenger: 2 },
    });
    expect(environment.step(at(0, 4, ABOARD, 1), 'dropoff', rng)).toMatchObject({
      ...{ reward: 20, done: true, success: true, observation: 'arrived' },
    });
  });

  it('says what to do, how far it is and what lies around', () => {
    expect([
      environment.step(at(2, 0, 0, 3), 'south', rng).observation,
      environment.step(at(3, 3, ABOARD, 3), 'north', rng).observation,
      environment.step(at(3, 3, ABOARD, 3), 'fly', rng).observation,
      environment.render!(at(3, 3, 1, 0)),
    ]).toMatchInlineSnapshot(`
      [
        "fetch:red rows-3 cols+0 north:free south:free east:wall west:wall to:blue",
        "bring:blue rows+2 cols+0 north:free south:free east:free west:free",
        "invalid bring:blue rows+1 cols+0 north:free south:free east:free west:wall",
        "* . . . G
      . . . . .
      . . . . .
      . . . @ .
      y . . b .",
      ]
    `);
  });
});

it('tasks are 240 to train, 30 to validate and 30 to test, none in two splits', () => {
  const splits = (['train', 'validation', 'test'] as const).map((split) => environment.tasks(split));
  expect(splits.map(({ size }) => size)).toEqual([240, 30, 30]);
  const all = splits.flatMap(({ size, at: task }) =>
    Array.from({ length: size }, (_, i) => JSON.stringify(task(i))),
  );
  expect(new Set(all).size).toBe(300);
});

it('the shares of the way sum to 1 at the end, whatever the course', async () => {
  const patient = world.create(world.options.parse({ maxTurns: 1000 }));
  let arrived = 0;
  for (let seed = 0; seed < 20; seed++) {
    const played = await playEpisode(patient, STARTS[seed * 14]!, seed, 'beginner');
    const shares = played.turns.map(({ info }) => factsOf(info, 'A turn').turn.dense![0]!);
    if (!played.success) continue;
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    arrived++;
  }
  expect(arrived).toBeGreaterThan(10);
});

it('keeps the laws with other numbers', () => environmentLaws(world, { options: [{ maxTurns: 3 }] }));
