import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import { measurePlayer, playEpisode } from '../../src/env/play.ts';
import type { PlayerKind } from '../../src/env/world.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { Dictionary, feedback, feedbackCode } from './feedback.ts';
import { wordle, world } from './index.ts';
import { loadWords, WORDS } from './words.ts';

const defaults = world.options.parse({});
const rng = Rng.of(0);

describe('feedback', () => {
  const shown = (guess: string, secret: string, rule: 'letter' | 'official') =>
    feedback(guess, secret, rule)
      .map((colour) => ({ green: 'G', yellow: 'y', grey: '.' })[colour])
      .join('');

  it.each([
    ['crane', 'crane', 'GGGGG', 'GGGGG'],
    ['crane', 'stone', '...GG', '...GG'],
    ['speed', 'abide', '..y.y', '..yyy'],
    ['speed', 'erase', 'y.yy.', 'y.yy.'],
    ['speed', 'steal', 'G.G..', 'G.Gy.'],
    ['allee', 'apple', 'Gy..G', 'GyyyG'],
  ])('%s against %s', (guess, secret, official, letter) => {
    expect(shown(guess, secret, 'official')).toBe(official);
    expect(shown(guess, secret, 'letter')).toBe(letter);
  });

  it('never rules out the secret, and its code tells colours apart', () => {
    const word = fc.constantFrom(...WORDS);
    fc.assert(
      fc.property(word, word, word, fc.constantFrom('letter', 'official'), (guess, a, b, rule) => {
        const same = feedback(guess, a, rule).join() === feedback(guess, b, rule).join();
        expect(feedbackCode(guess, a, rule) === feedbackCode(guess, b, rule)).toBe(same);
      }),
    );
    const dictionary = new Dictionary(WORDS, 'official');
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 4 }), (secret, guesses) => {
        const survivors = dictionary.survivors(secret, guesses);
        expect(survivors).toContain(secret);
        const byHand = WORDS.filter((candidate) =>
          guesses.every(
            (guess) =>
              feedback(guess, candidate, 'official').join() === feedback(guess, secret, 'official').join(),
          ),
        );
        expect(survivors).toEqual(byHand);
      }),
    );
  });
});

describe('rules', () => {
  const six = wordle({ ...defaults, words: 6, listed: 3 });
  const start = six.start({ secret: 'plant' }, rng).state;

  it('names the survivors where they are few', () => {
    expect(six.step(start, 'house', rng)).toEqual({
      state: { secret: 'plant', guesses: ['house'], tries: 1 },
      observation: 'left1 plant',
      reward: -1,
      done: false,
      valid: true,
      info: {
        credit: { answerProbability: 1 / 6, dense: 1, answer: 'house', correct: false, entityShare: 0 },
      },
    });
  });

  it('tells what is known of each letter where they are many', () => {
    const letters = wordle({ ...defaults, listed: 0 });
    const first = letters.step(letters.start({ secret: 'plant' }, rng).state, 'crane', rng);
    expect(first.observation).toMatchInlineSnapshot(`"many 1:c=grey 2:r=grey 3:a=green 4:n=green 5:e=grey"`);
    const second = letters.step(first.state, 'giant', rng);
    expect(second.observation).toMatchInlineSnapshot(
      `"many 1:c=grey 2:r=grey 3:a=green 4:n=green 5:e=grey 1:g=grey 2:i=grey 5:t=green"`,
    );
  });

  it('pays 0 for the solving guess', () => {
    expect(six.step(start, 'plant', rng)).toMatchObject({
      observation: 'solved',
      reward: 0,
      done: true,
      success: true,
    });
  });

  it('takes a try and 1 for a word outside the vocabulary, and says so', () => {
    expect(six.step(start, 'zzzzz', rng)).toEqual({
      state: { secret: 'plant', guesses: [], tries: 1 },
      observation: 'invalid many',
      reward: -1,
      done: false,
      valid: false,
      info: { credit: { answerProbability: 1 / 6, dense: 0, answer: '', correct: false, entityShare: 0 } },
    });
  });

  it('fails after six tries: return -6', async () => {
    const played = await playEpisode(world.create(defaults), { secret: 'plant' }, 0, () => 'zzzzz');
    expect(played).toMatchObject({ outcome: -6, success: false, done: true });
    expect(played.turns).toHaveLength(6);
  });

  it('shows a game to people', () => {
    const letters = wordle(defaults);
    expect(
      letters.render?.({ secret: 'plant', guesses: ['crane', 'plant'], tries: 2 }),
    ).toMatchInlineSnapshot(`
      "crane ..GG.
      plant GGGGG"
    `);
  });
});

describe('oracle', () => {
  const folder = fileURLToPath(new URL('../../../shared/data/lmrl-gym/', import.meta.url));

  const meanGuesses = async (options: Partial<typeof defaults>) => {
    const game = world.create(world.options.parse(options));
    const tasks = game.tasks('test');
    const turns: number[] = [];
    for (let index = 0; index < tasks.size; index++) {
      const played = await playEpisode(game, tasks.at(index), index, 'expert');
      expect(played.success).toBe(true);
      turns.push(played.turns.length);
    }
    return { mean: turns.reduce((sum, n) => sum + n, 0) / turns.length, max: Math.max(...turns) };
  };

  it.for([
    ['tweet_words.txt', 40, 'official', 2.325, 3],
    ['wordle_official_200.txt', 236, 'official', 2.737, 4],
    ['wordle_official_200.txt', 236, 'letter', 2.746, 4],
    ['wordle_official_400.txt', 431, 'official', 2.937, 5],
    ['wordle_official_400.txt', 431, 'letter', 2.94, 5],
  ] as const)(
    'greedy entropy on %s (%i words, %s rule) needs %f guesses',
    async ([file, words, feedbackRule, mean, max], { skip }) => {
      const wordsFile = join(folder, file);
      skip(!existsSync(wordsFile), `the word lists of LMRL-Gym are not in ${folder}`);
      const measured = await meanGuesses({ wordsFile, words, feedbackRule });
      expect(measured.mean).toBeCloseTo(mean, 3);
      expect(measured.max).toBe(max);
    },
  );

  it('scripted players do as the README says', async () => {
    const game = world.create(defaults);
    expect({
      expert: await measurePlayer(game, 'expert', 480),
      beginner: await measurePlayer(game, 'beginner', 480),
      random: await measurePlayer(game, 'random', 480),
    }).toMatchInlineSnapshot(`
      {
        "beginner": {
          "outcome": -3.1875,
          "success": 0.78125,
          "turns": 3.96875,
        },
        "expert": {
          "outcome": -1.3125,
          "success": 1,
          "turns": 2.3125,
        },
        "random": {
          "outcome": -5.4875,
          "success": 0.13125,
          "turns": 5.61875,
        },
      }
    `);
  });
});

describe('word lists', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-words-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('ships a few hundred different words', () => {
    expect(WORDS.length).toBeGreaterThan(400);
    expect(new Set(WORDS).size).toBe(WORDS.length);
    expect(WORDS.every((word) => /^[a-z]{5}$/.test(word))).toBe(true);
  });

  it('reads a file', () => {
    expect(loadWords(file('good.txt', 'CRANE\nplant\n\ncrane stone\n'))).toEqual(['crane', 'plant', 'stone']);
  });

  it('refuses what is not a list of words', () => {
    expect(() => loadWords(join(folder, 'none.txt'))).toThrow(
      /The word list could not be read. Seen: .*none.txt/,
    );
    expect(() => loadWords(file('bad.txt', 'crane\nsix666'))).toThrow(
      /something that is not a five-letter word. Seen: "six666". Allowed: words of five letters/,
    );
    expect(() => loadWords(file('empty.txt', ''))).toThrow(/Seen: no words at all/);
    expect(() => wordle({ ...defaults, words: 1000 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: wordle needs more words than its list has. Seen: words = 1000. Allowed: 2 to 457. Lower words, or name a longer list with wordsFile.]`,
    );
  });
});

describe('facts for credit', () => {
  it('a guess never makes the word less likely, and what all take away sums to all the doubt there is', async () => {
    const game = world.create(defaults);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1000),
        fc.constantFrom('expert', 'beginner', 'random'),
        async (seed, player) => {
          const { turns, success } = await playEpisode(
            game,
            game.tasks('train').at(seed),
            seed,
            player as PlayerKind,
          );
          const facts = turns.map(({ info }) => factsOf(info, 'A turn'));
          const before = facts.map(({ turn }) => turn.answerProbability!);
          expect(before[0]).toBe(1 / 48);
          for (const [k, { turn }] of facts.entries()) {
            const after = k + 1 < before.length ? before[k + 1]! : success ? 1 : undefined;
            if (after !== undefined)
              expect(turn.dense![0]).toBeCloseTo(Math.log(after / before[k]!) / Math.log(48), 12);
            expect(turn.dense![0]).toBeGreaterThanOrEqual(0);
          }
          const total = facts.reduce((sum, { turn }) => sum + turn.dense![0]!, 0);
          if (success) expect(total).toBeCloseTo(1, 12);
          else expect(total).toBeLessThanOrEqual(1 + 1e-12);
          const shares = facts.map(({ trajectory }) => trajectory.entityShare!);
          expect([...shares].sort((a, b) => a - b)).toEqual(shares);
          if (success) expect(shares.at(-1)).toBe(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('counts the different letters of the word that guesses had', () => {
    const game = wordle(defaults);
    const first = game.step({ secret: 'apple', guesses: [], tries: 0 }, 'plant', rng);
    // p, l and a of a, p, l and e
    expect(first.info).toMatchObject({ credit: { entityShare: 0.75, answer: 'plant', correct: false } });
  });
});

it('keeps the laws with other numbers', () => environmentLaws(world, { options: [{ listed: 0 }] }));
