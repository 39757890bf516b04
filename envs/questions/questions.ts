/** Games of questions: something is hidden, questions about it are answered from a table, and naming it ends the game. */

import { defineEnvironment, type Environment } from '../../src/env/environment.ts';

/** What may be hidden, and its answer to each question. */
export interface Thing {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly answers: Readonly<Record<string, string>>;
}

export type AskingState = {
  readonly secret: string;
  /** Questions that were asked, and names that were wrong. */
  readonly asked: readonly string[];
  readonly turn: number;
};

export interface QuestionGame {
  readonly name: string;
  readonly description: string;
  readonly things: readonly Thing[];
  /** Words that ask, each with its sentence. */
  readonly questions: Readonly<Record<string, string>>;
  readonly maxTurns: number;
  /** Name the things that are still possible when there are at most this many. */
  readonly listed: number;
  readonly rules: string;
}

/**
 * The environment. A question costs 1, also one that is none and a wrong name; the right name costs nothing and ends the
 * game. Every thing is in every split: a policy that never met one would rightly never name it.
 */
export function askingGame(game: QuestionGame): Environment<string, AskingState> {
  const { things, questions, maxTurns, listed } = game;
  const byName = new Map(things.map((thing) => [thing.name, thing]));
  const meaning = new Map<string, string>([
    ...Object.entries(questions).flatMap(([word, sentence]): [string, string][] => [
      [word, word],
      [plain(sentence), word],
    ]),
    ...things.flatMap(({ name, aliases = [] }) =>
      [name, ...aliases].flatMap((alias): [string, string][] => [
        [plain(alias), name],
        [`is it ${plain(alias)}`, name],
        [`is it a ${plain(alias)}`, name],
        [`is it an ${plain(alias)}`, name],
      ]),
    ),
  ]);

  /** Of states that were met before: each is looked at several times, and the next one narrows it by one word. */
  const known = new WeakMap<AskingState, readonly Thing[]>();

  function possible(state: AskingState): readonly Thing[] {
    const left = known.get(state) ?? state.asked.reduce(narrowed(state.secret), things);
    known.set(state, left);
    return left;
  }

  const narrowed = (secret: string) => {
    const { answers } = byName.get(secret)!;
    return (left: readonly Thing[], word: string): readonly Thing[] =>
      left.filter((thing) =>
        byName.has(word) ? thing.name !== word : thing.answers[word] === answers[word],
      );
  };

  function observe(state: AskingState): string {
    const left = possible(state);
    const { answers } = byName.get(state.secret)!;
    const told =
      left.length <= listed
        ? left.map(({ name }) => fused(name))
        : state.asked.filter((word) => !byName.has(word)).map((word) => `${word}:${fused(answers[word]!)}`);
    return [`left:${left.length}`, ...told].join(' ');
  }

  function describe(state: AskingState): string {
    const last = state.asked.at(-1);
    const left = possible(state);
    const answer =
      last === undefined ? '' : byName.has(last) ? 'No. ' : `${byName.get(state.secret)!.answers[last]}. `;
    const rest =
      left.length <= listed
        ? `Still possible: ${left.map(({ name }) => name).join(', ')}.`
        : `${left.length} are still possible.`;
    return `${answer === '' ? '' : answer[0]!.toUpperCase() + answer.slice(1)}${rest} What do you ask?`;
  }

  const start = (secret: string): AskingState => ({ secret, asked: [], turn: 0 });
  const [firstWord, firstSentence] = Object.entries(questions)[0]!;

  return defineEnvironment<string, AskingState>({
    name: game.name,
    description: game.description,
    maxTurns,
    facts: ['answerProbability', 'dense', 'answer', 'correct'],
    tasks: () => things.map(({ name }) => name),
    start: (secret) => ({
      state: start(secret),
      messages: [{ role: 'user', content: observe(start(secret)) }],
    }),
    step: (state, action) => {
      const word = meaning.get(plain(action));
      const valid = word !== undefined;
      const success = word === state.secret;
      const fresh = valid && !state.asked.includes(word);
      const next: AskingState = {
        ...state,
        asked: fresh ? [...state.asked, word] : state.asked,
        turn: state.turn + 1,
      };
      const left = possible(state);
      known.set(next, fresh ? narrowed(state.secret)(left, word) : left);
      const before = left.length;
      const after = success ? 1 : possible(next).length;
      const done = success || next.turn >= maxTurns;
      return {
        state: next,
        observation: success ? 'found' : `${valid ? '' : 'invalid '}${observe(next)}`,
        reward: success ? 0 : -1,
        done,
        success,
        valid,
        info: {
          credit: {
            answerProbability: 1 / before,
            dense: Math.log2(before / after) / Math.log2(things.length),
            answer: valid && byName.has(word) ? word : '',
            correct: success,
          },
        },
      };
    },
    anchor: (state) => `${state.asked.length} ${observe(state)}`,
    actions: () => [...Object.keys(questions), ...things.map(({ name }) => name)],
    truth: (secret) => secret,
    solve: (state) => bestQuestion(possible(state), Object.keys(questions)),
    stumble: (state, rng) => {
      // Asks at random until a few are left, and then names one.
      const left = possible(state);
      return rng.pick(left.length <= 6 ? left.map(({ name }) => name) : Object.keys(questions));
    },
    render: (state) => `${state.secret}: ${state.asked.join(', ') || 'nothing asked yet'}`,
    natural: {
      instructions: game.rules,
      example: [
        [describe(start(things[0]!.name)), firstSentence],
        [describe({ ...start(things[0]!.name), asked: [firstWord] }), things[0]!.name],
      ],
      observe: (state, step) => {
        if (step?.success) return 'You have found it.';
        if (step?.done) return 'You have no questions left.';
        return `${step?.valid === false ? 'That is no question of the game. ' : ''}${describe(state)}`;
      },
    },
  });
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9' -]/g, '')
    .trim();
const fused = (text: string): string => text.replaceAll(' ', '-');

/**
 * The question whose answers leave the least to ask, if what is left could always be halved; or a name, where naming one of
 * the few that are left is as good. What it costs is a lower bound for the best play (`fewestQuestions`).
 */
export function bestQuestion(left: readonly Thing[], questions: readonly string[]): string {
  const count = left.length;
  const naming = ((count - 1) / count) * (1 + fewestQuestions(count - 1));
  let [best, least] = [left[0]!.name, naming];
  for (const word of questions) {
    const groups = new Map<string, number>();
    for (const { answers } of left) groups.set(answers[word]!, (groups.get(answers[word]!) ?? 0) + 1);
    if (groups.size < 2) continue;
    const cost =
      1 + [...groups.values()].reduce((sum, size) => sum + (size / count) * fewestQuestions(size), 0);
    if (cost < least - 1e-12) [best, least] = [word, cost];
  }
  return best;
}

const fewest: number[] = [0, 0];

/** What finding one of `count` things costs on average where every question halves them: no yes/no table allows less. */
export function fewestQuestions(count: number): number {
  for (let n = fewest.length; n <= count; n++) {
    const naming = ((n - 1) / n) * (1 + fewest[n - 1]!);
    const splits = Array.from({ length: Math.floor(n / 2) }, (_, index) => {
      const small = index + 1;
      return 1 + (small * fewest[small]! + (n - small) * fewest[n - small]!) / n;
    });
    fewest.push(Math.min(naming, ...splits));
  }
  return fewest[Math.max(0, count)]!;
}
