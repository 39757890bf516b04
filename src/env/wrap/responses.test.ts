import { describe, expect, test } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { waltzRl } from '../../credit/methods/roles/waltzrl.ts';
import { healthy } from '../../testing/check/planted/healthy.test-helper.ts';
import { environmentLaws } from '../../testing/environment-laws.ts';
import type { Game } from '../game.ts';
import { answerAndFeedback } from './answer-and-feedback.ts';
import { deliberation } from './deliberation.ts';
import { echo } from './echo.test-helper.ts';
import type { Responses } from './responses.ts';
import { secondAnswer } from './second-answer.ts';

/** What each role reads and earns, turn by turn. */
function play<State>(
  game: Game<string, Responses<State>> | Game<number, Responses<State>>,
  task: string | number,
  actions: readonly string[],
  wording: 'observe' | 'natural' = 'observe',
) {
  const own = game as Game<string | number, Responses<State>>;
  const rng = Rng.of('unused');
  let state = own.start(task, rng);
  const turns = actions.map((action) => {
    const role = own.toMove(state)!;
    const read = own[wording]!(state, role);
    const { state: next, ...step } = own.step(state, role, action, rng);
    state = next;
    return { role, read: read.at(-1)!.content, messages: read.length, ...step };
  });
  return { turns, isOver: own.toMove(state) === undefined, state };
}

test.each([
  ['answers and feedback', () => environmentLaws(answerAndFeedback(healthy), { episodes: 20 })],
  ['two rounds of it', () => environmentLaws(answerAndFeedback(echo, { rounds: 2 }), { episodes: 20 })],
  ['second answers', () => environmentLaws(secondAnswer(healthy), { episodes: 20 })],
  ['deliberation', () => environmentLaws(deliberation(healthy), { episodes: 20 })],
] as const)('%s keep the laws', (_, laws) => laws());

describe('answer and feedback', () => {
  test('each answer is paid, feedback is not, and facts say what it was worth', () => {
    const { turns, isOver } = play(answerAndFeedback(echo), 'red', ['blue', 'bad red', 'red']);
    expect(isOver).toBe(true);
    expect(turns.map(({ role, read, rewards }) => [role, read, rewards])).toEqual([
      ['conversation', 'say red', { conversation: -1 }],
      ['feedback', 'say red tried blue', {}],
      ['conversation', 'say red tried blue review bad red', { conversation: 1 }],
    ]);
    expect(turns.map(({ info }) => (info as { credit: object }).credit)).toEqual([
      { response: 0 },
      { wellFormed: true, labelCorrect: true },
      { response: 1 },
    ]);
    expect(turns.at(-1)).toMatchObject({ done: true, success: { conversation: true, feedback: true } });
  });

  test('what is found good stands, rightly or not', () => {
    const { turns, isOver } = play(answerAndFeedback(echo), 'red', ['blue', 'good']);
    expect(isOver).toBe(true);
    expect(turns[1]).toMatchObject({
      done: true,
      success: { conversation: false, feedback: false },
      info: { credit: { labelCorrect: false } },
    });
  });

  test('feedback in no form is no right label, and what is no answer costs a turn and what the environment says', () => {
    const { turns, isOver } = play(answerAndFeedback(echo), 'red', ['pink', 'blue', 'hm', 'bad', 'red']);
    expect(turns.map(({ role, valid, rewards }) => [role, valid, rewards])).toEqual([
      ['conversation', false, { conversation: -1 }],
      ['conversation', true, { conversation: -1 }],
      ['feedback', false, {}],
      ['feedback', true, {}],
      ['conversation', true, { conversation: 1 }],
    ]);
    expect(turns[2]).toMatchObject({ info: { credit: { wellFormed: false, labelCorrect: false } } });
    expect(turns[4]!.read).toBe('say red tried blue review bad');
    expect(isOver).toBe(true);
  });

  test('an answer of several turns begins again where the first did', () => {
    const game = answerAndFeedback({ ...healthy, maxTurns: 2 });
    const { turns, isOver } = play(game, 2, ['left', 'left', 'bad right', 'right', 'right']);
    expect(turns.map(({ role }) => role)).toEqual([
      'conversation',
      'conversation',
      'feedback',
      'conversation',
      'conversation',
    ]);
    expect(turns[3]!.read).toBe('right 2 tried left left review bad right');
    expect(isOver).toBe(true);
    expect(turns.at(-1)).toMatchObject({ success: { conversation: true } });
  });

  test('in sentences each role reads its part once', () => {
    const { turns } = play(answerAndFeedback(echo), 'red', ['blue', 'bad red', 'red'], 'natural');
    expect(turns.map(({ messages }) => messages)).toEqual([4, 4, 1]);
    expect(turns[2]!.read).toBe(
      'The word is red. A response to this was: blue. Its review says: bad red. Respond now.',
    );
  });

  test('WaltzRL reads responses of several turns: improvements of 1, 0 and -1 are worth .75, .1 and -.55', () => {
    const credit = waltzRl.create({ whiten: false }).credit;
    const improvement = (before: readonly number[], after: readonly number[]): number => {
      const turn = (reward: number, response: number) => ({ reward, tokens: 1, response });
      const answers = [...before.map((one) => turn(one, 0)), ...after.map((one) => turn(one, 1))];
      const trajectory = (role: string, turns: readonly object[]) => ({
        ...{ id: role, episode: 'e', groupId: 'g', role, outcome: 0, turns },
      });
      const given = [
        trajectory('conversation', answers),
        trajectory('feedback', [{ reward: 0, tokens: 1, labelCorrect: true }]),
      ] as unknown as Parameters<typeof credit>[0];
      return credit(given, {}).credits[1]!.turnAdvantages_K[0]!;
    };
    expect(improvement([0, 0], [0, 1])).toBeCloseTo(0.75, 12);
    expect(improvement([0, 1], [1])).toBeCloseTo(0.1, 12);
    expect(improvement([0, 0, 1], [0, 0])).toBeCloseTo(-0.55, 12);
  });
});

test('a second answer is given with the first in sight, and each is paid to its own role', () => {
  const { turns, isOver } = play(secondAnswer(echo), 'red', ['blue', 'red']);
  expect(isOver).toBe(true);
  expect(turns.map(({ role, read, rewards, success }) => [role, read, rewards, success])).toEqual([
    ['pioneer', 'say red', { pioneer: -1 }, { pioneer: false }],
    ['observer', 'say red tried blue', { observer: 1 }, { observer: true }],
  ]);
});

test('deliberation is proposal, review and response, and only the last counts', () => {
  const { turns, isOver } = play(deliberation(echo), 'red', ['red', 'good', 'blue']);
  expect(isOver).toBe(true);
  expect(turns.map(({ read, rewards }) => [read, rewards])).toEqual([
    ['say red', {}],
    ['say red tried red', {}],
    ['say red tried red review good', { agent: -1 }],
  ]);
  expect(turns.at(-1)).toMatchObject({ success: { agent: false }, done: true });
});
