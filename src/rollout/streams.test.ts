/** Random numbers are keyed by what they are for: nothing that is drawn for one thing shifts what is drawn for another. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Call, Episode, EpisodeKey } from '../core/episode.ts';
import { user } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { byPolicy, madeKey } from '../core/testing/made-episodes.ts';
import { defineEnvironment } from '../env/environment.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import { fromGame } from '../env/from-game.ts';
import { defineGame } from '../env/game.ts';
import type { Session } from '../env/session.ts';
import type { World } from '../env/world.ts';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import type { Policy } from '../policy/policy.ts';
import { fullContext } from './context/contexts.ts';
import { type EpisodeOptions, type EpisodeRequest, runEpisode } from './episode.ts';
import type { KeptPlace } from './kept-place.ts';
import { unwatched } from './watch.ts';

const TURNS = 4;

/** Shows a number by chance at the start and after each step, and draws as many more as the action says. */
const dice = fromEnvironment(
  defineEnvironment<number, { turn: number }>({
    name: 'dice',
    description: '',
    maxTurns: TURNS,
    tasks: () => ({ size: 4, at: (index) => index }),
    start: (_task, rng) => ({ state: { turn: 0 }, messages: [user(`start ${rng.next()}`)] }),
    step: ({ turn }, action, rng) => {
      const shown = rng.next();
      for (let drawn = 0; drawn < Number(action); drawn++) rng.next();
      const done = turn + 1 === TURNS;
      return { state: { turn: turn + 1 }, observation: `${shown}`, reward: 0, done, valid: true };
    },
  }),
);

/** The same, two roles in turn. */
const duel = fromGame(
  defineGame<number, { turn: number; shown: number }>({
    name: 'duel',
    description: '',
    roles: ['white', 'black'],
    maxTurns: TURNS,
    tasks: () => ({ size: 4, at: (index) => index }),
    start: (_task, rng) => ({ turn: 0, shown: rng.next() }),
    toMove: ({ turn }) => (turn === TURNS ? undefined : turn % 2 === 0 ? 'white' : 'black'),
    observe: ({ shown }) => [user(`${shown}`)],
    anchor: ({ turn }) => `${turn}`,
    step: ({ turn }, _role, action, rng) => {
      const shown = rng.next();
      for (let drawn = 0; drawn < Number(action); drawn++) rng.next();
      return { state: { turn: turn + 1, shown }, rewards: {}, valid: true, done: turn + 1 === TURNS };
    },
  }),
);

const renderer = wordRenderer(WordTokenizer.fromTexts(['0 1 2 3 4 5 6 7 8 9']), 1);

/** Says these words, and notes how the randomness of each completion is named. */
function sayer(name: string, words: readonly string[]): Policy & { readonly seeds: string[] } {
  const seeds: string[] = [];
  return {
    author: byPolicy(name),
    seeds,
    complete: async ({ seedKey }) => {
      const text = words[seeds.length % words.length]!;
      seeds.push(seedKey);
      const ids = Int32Array.from(renderer.completionIds(text));
      return {
        ids,
        logprobs: new Float32Array(ids.length),
        text,
        finish: 'stop',
        by: byPolicy(name),
        trainable: true,
      };
    },
  };
}

async function play(
  world: World,
  policy: Policy,
  request: Partial<EpisodeRequest> = {},
  more: Partial<EpisodeOptions> = {},
): Promise<Episode> {
  return runEpisode(
    { key: madeKey({ environment: world.name }), task: 0, ...request },
    {
      world,
      policy,
      renderer,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: TURNS,
      contextLength: 100,
      turnTimeoutMs: 1000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      ...more,
    },
  );
}

/** What was shown before each call, and at the end: the start, then the chance of each transition. */
function shownIn({ calls, closing = {} }: Episode): (string | undefined)[] {
  const before = calls.map((call: Call) => call.messages[0]?.content);
  return [...before, Object.values(closing)[0]?.[0]?.content];
}

describe.each([
  ['an environment', dice],
  ['a game', duel],
])('%s', (_, world) => {
  const digit = fc.constantFrom('0', '1', '5', '9');
  const words = fc.array(digit, { minLength: TURNS, maxLength: TURNS });

  test('property: what a step draws never shifts the chance of another', async () => {
    await fc.assert(
      fc.asyncProperty(words, words, async (some, others) => {
        const one = await play(world, sayer('learner', some));
        const other = await play(world, sayer('learner', others));
        expect(one.calls.map(({ text }) => text)).toEqual(some);
        expect(new Set(shownIn(one)).size).toBe(TURNS + 1);
        expect(shownIn(other)).toEqual(shownIn(one));
      }),
      { numRuns: 20 },
    );
  });

  test('arms with other policies have the same start, chance and seeds, whatever they do', async () => {
    const [one, other] = [sayer('learner', ['1', '2']), sayer('another', ['9'])];
    expect(shownIn(await play(world, one))).toEqual(shownIn(await play(world, other)));
    expect(one.seeds).toEqual(other.seeds);
    expect(new Set(one.seeds).size).toBe(TURNS);
  });

  test('a policy key changes what the policy samples by, and no chance of the world: a control', async () => {
    const [one, other] = [sayer('learner', ['1', '2']), sayer('learner', ['1', '2'])];
    const usual = await play(world, one);
    expect(shownIn(await play(world, other, {}, { policyKey: 'other' }))).toEqual(shownIn(usual));
    expect(other.seeds.filter((seed) => one.seeds.includes(seed))).toEqual([]);
    const same = sayer('learner', ['1', '2']);
    await play(world, same, {}, { policyKey: '' });
    expect(same.seeds).toEqual(one.seeds);
  });

  test('branches repeat the chance of their origin, wherever they begin and whatever they do', async () => {
    const [origin, places] = await explored(world);
    expect(places.map(({ prefix }) => prefix.place.transition)).toEqual([0, 1, 2]);
    for (const [index, from] of places.entries()) {
      const policy = sayer('learner', ['7', '0']);
      const key = madeKey({ environment: world.name, member: 5 });
      const branch = await play(world, policy, { key, from });
      expect(branch.branchedFrom).toEqual({ episode: origin.key, transition: index, calls: index + 1 });
      expect(branch.calls.map(({ id }) => id)).toEqual([1, 2, 3].slice(index));
      expect(shownIn(branch)).toEqual(shownIn(origin).slice(index + 1));
      // What it samples is its own.
      expect(policy.seeds).toEqual(branch.calls.map(({ id }) => `1/1/${world.name}/train/0/0/5/${id}`));
    }
  });

  test('with a fresh chance, branches share what was there before and draw what comes after for themselves', async () => {
    const [origin, places] = await explored(world);
    const key = madeKey({ environment: world.name, member: 5 });
    const alone = shownIn(await play(world, sayer('learner', ['1']), { key }));
    for (const [index, from] of places.entries()) {
      const shown = shownIn(await play(world, sayer('learner', ['7']), { key, from, chance: 'fresh' }));
      expect(shown[0]).toBe(shownIn(origin)[index + 1]);
      expect(shown.slice(1)).toEqual(alone.slice(index + 2));
    }
  });

  test('a pure world without snapshots gives the same branches, by repeating what was done', async () => {
    const [, held] = await explored(world);
    const { snapshots: _, ...bare } = world;
    const repeating: World = {
      ...bare,
      open: async (...how) => withoutSnapshots(await world.open(...how)),
    };
    const [, places] = await explored(repeating);
    const key = madeKey({ environment: world.name, member: 5 });
    for (const [index, from] of places.entries()) {
      const [one, other] = [
        await play(world, sayer('learner', ['7']), { key, from: held[index]! }),
        await play(repeating, sayer('learner', ['7']), { key, from }),
      ];
      expect(shownIn(other)).toEqual(shownIn(one));
      expect(other.branchedFrom).toEqual(one.branchedFrom);
      const fresh = (way: World, place: KeptPlace) =>
        play(way, sayer('learner', ['7']), { key, from: place, chance: 'fresh' });
      const drawn = await fresh(repeating, from);
      expect(shownIn(drawn)).toEqual(shownIn(await fresh(world, held[index]!)));
      if (index < places.length - 1) expect(shownIn(drawn)).not.toEqual(shownIn(other));
    }
  });

  test('places below a fresh chance are reached again in a world without snapshots, too', async () => {
    const { snapshots: _, ...bare } = world;
    const repeating: World = { ...bare, open: async (...how) => withoutSnapshots(await world.open(...how)) };
    const below = async (way: World, member: number, from?: KeptPlace): Promise<[Episode, KeptPlace[]]> => {
      const places: KeptPlace[] = [];
      const keeper = {
        prompts: false,
        keeps: () => true,
        keep: (place: KeptPlace) => void places.push(place),
      };
      const key = madeKey({ environment: world.name, member });
      const request = { key, keeper, ...(from && { from, chance: 'fresh' as const }) };
      return [await play(way, sayer('learner', ['1']), request), places];
    };
    const shown = async (way: World) => {
      const [origin, [place]] = await below(way, 0);
      const [fresh, [deeper]] = await below(way, 1, place);
      const key = madeKey({ environment: world.name, member: 2 });
      const twin = await play(way, sayer('learner', ['7']), { key, from: deeper! });
      return [origin, fresh, twin].map(shownIn);
    };
    const [origin, fresh, twin] = await shown(repeating);
    expect([origin, fresh, twin]).toEqual(await shown(world));
    expect(fresh).not.toEqual(origin!.slice(1));
    expect(twin).toEqual(fresh!.slice(1));
  });
});

/** An episode with the places that it passed. */
async function explored(world: World): Promise<[Episode, KeptPlace[]]> {
  const places: KeptPlace[] = [];
  const keeper = { prompts: false, keeps: () => true, keep: (place: KeptPlace) => void places.push(place) };
  return [await play(world, sayer('learner', ['1']), { keeper }), places];
}

function withoutSnapshots(session: Session): Session {
  return {
    roles: session.roles,
    toMove: () => session.toMove(),
    observe: (role) => session.observe(role),
    anchor: (role) => session.anchor(role),
    step: (action, signal) => session.step(action, signal),
    close: () => session.close(),
  };
}

describe('keys', () => {
  const shown = async (key: Partial<EpisodeKey>, more: Partial<EpisodeOptions> = {}, drawsAs?: EpisodeKey) =>
    shownIn(
      await play(
        dice,
        sayer('learner', ['1']),
        { key: madeKey({ environment: 'dice', ...key }), ...(drawsAs && { drawsAs }) },
        more,
      ),
    );

  test('members of a group share the start, and nothing else of chance', async () => {
    const [one, other] = [await shown({ member: 0 }), await shown({ member: 1 })];
    expect(one[0]).toBe(other[0]);
    for (let turn = 1; turn <= TURNS; turn++) expect(other).not.toContain(one[turn]);
  });

  test.each<[string, Partial<EpisodeKey>]>([
    ['step', { step: 2 }],
    ['group', { group: 1 }],
    ['split', { split: 'test' }],
    ['task', { task: 1 }],
    ['environment', { environment: 'dice-2' }],
  ])('another %s shares nothing', async (_, key) => {
    const usual = await shown({});
    expect((await shown(key)).filter((text) => usual.includes(text))).toEqual([]);
  });

  test('nor does another run', async () => {
    const usual = await shown({});
    expect((await shown({}, { seed: 2 })).filter((text) => usual.includes(text))).toEqual([]);
  });

  test('an episode that draws as another has all of its chance, and a key of its own', async () => {
    const as = madeKey({ environment: 'dice', step: 0 });
    const usual = await shown({ step: 0 });
    expect(await shown({ step: 7 }, {}, as)).toEqual(usual);
    const policy = sayer('learner', ['1']);
    const key = madeKey({ environment: 'dice', step: 7 });
    expect((await play(dice, policy, { key, drawsAs: as })).key).toEqual(key);
    expect(policy.seeds[0]).toBe('1/0/dice/train/0/0/0/0');
  });
});

test('streams of a stream are of their own: none is another, and none shows in those beside it', () => {
  const chance = Rng.of('chance', 1);
  const before = chance.state;
  const first = Array.from({ length: 4000 }, (_, index) => chance.at(index).next());
  expect(chance.state).toEqual(before);
  expect(chance.at(7).next()).toBe(first[7]);
  expect(new Set(first).size).toBe(4000);
  const mean = first.reduce((sum, value) => sum + value, 0) / 4000;
  expect(mean).toBeCloseTo(0.5, 1);
  const beside = first
    .slice(1)
    .reduce((sum, value, index) => sum + (value - mean) * (first[index]! - mean), 0);
  // Of a correlation of 4000 pairs the standard deviation is 0.016.
  expect(Math.abs(beside / 4000 / (1 / 12))).toBeLessThan(0.06);
});
