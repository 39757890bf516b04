import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Group } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { madeKey, madeTransition, playedEpisode } from '../../core/testing/made-episodes.ts';
import type { Turns } from './turn-control.ts';
import { turnsRegistry } from './turn-controls.ts';

const open = (name: string, options: object = {}): Turns => turnsRegistry.find(name).create(options);
const now = (step: number, memory: Json) => ({ step, memory, rng: Rng.of('test', step) });
const limitAt = (control: Turns, step: number, memory: Json = control.start()): number =>
  control.limit(null, { ...now(step, memory), usual: 9 });
const view = { role: 'agent', task: null, calls: [], transitions: [], turn: 1, limit: 10 };
const going = { done: false, success: false };

/** A step whose episodes took so many turns; those with a negative number failed. */
const stepOf = (step: number, ...turns: readonly number[]): Group => ({
  step,
  group: 0,
  members: turns.map((count, member) =>
    playedEpisode(member, Array<object>(Math.abs(count)).fill({}), {
      key: madeKey({ step, member }),
      success: { agent: count > 0 },
      task: { id: member },
    }),
  ),
});

describe('worked numbers', () => {
  test('scaling-inter: steps 1 to 99 have 6 turns, 100 to 199 have 13, and 20 from there on', () => {
    const control = open('scaling-inter');
    expect([1, 99, 100, 199, 200, 900].map((step) => limitAt(control, step))).toEqual([6, 6, 13, 13, 20, 20]);
  });

  test('annealed: turns of 2, 4 and 6 in a window set the limit to 5, and it never rises', () => {
    const control = open('annealed', { every: 2 });
    const first = control.remember([stepOf(1, 2, 4)], now(1, control.start()));
    expect(limitAt(control, 2, first)).toBe(30);
    const second = control.remember([stepOf(2, 6)], now(2, first));
    expect(limitAt(control, 3, second)).toBe(5);
    const late = control.remember([stepOf(4, 30, 30)], now(4, second));
    expect(limitAt(control, 5, late)).toBe(5);
    // A window without episodes leaves it as it is.
    expect(limitAt(control, 7, control.remember([], now(6, late)))).toBe(5);
  });

  test('episodes that a curation inserted are not of the step', () => {
    const control = open('annealed', { every: 1 });
    const inserted = { ...stepOf(5, 20), step: 6 };
    expect(limitAt(control, 7, control.remember([inserted, stepOf(6, 4)], now(6, control.start())))).toBe(4);
  });

  const hundred = Array.from({ length: 100 }, (_, turns) => turns + 1);

  test('percentile: of successes of 1 to 100 turns three quarters need 76, and after turn 70 there are 6 left', () => {
    const control = open('percentile');
    const few = control.remember([stepOf(1, ...hundred.slice(1), -50)], now(1, control.start()));
    expect(limitAt(control, 2, few)).toBe(9);
    expect(control.after!(view, { ...now(2, few), ...going })).toBe('go on');
    const memory = control.remember([stepOf(2, 1)], now(2, few));
    expect(limitAt(control, 3, memory)).toBe(76);
    const decided = (turn: number) =>
      control.after!({ ...view, turn, limit: 76 }, { ...now(3, memory), ...going });
    expect(decided(70)).toEqual({ say: { role: 'user', content: 'Turns left: 6' } });
    expect(decided(76)).toBe('go on');
    // What was seen is left as it is.
    expect(control.remember([stepOf(3, 1, 1, 1)], now(3, memory))).toEqual(memory);
  });

  test('percentile: the first limit is extended once, and reminders begin where they are asked to', () => {
    const control = open('percentile', { levels: [0.5, 0.75], reminders: 2 });
    const memory = control.remember([stepOf(1, ...hundred)], now(1, control.start()));
    const said = (turn: number, limit = 76) => {
      const decision = control.after!({ ...view, turn, limit }, { ...now(2, memory), ...going });
      return decision === 'go on' || !('say' in decision) ? decision : decision.say.content;
    };
    expect([48, 49, 50].map((turn) => said(turn))).toEqual(['go on', 'Turns left: 2', 'Turns left: 1']);
    expect(said(51)).toBe('Not finished: the limit is extended. Turns left: 25');
    expect([73, 74, 75].map((turn) => said(turn))).toEqual(['go on', 'Turns left: 2', 'Turns left: 1']);
    // A group of fewer turns is reminded of its own end.
    expect([said(9, 10), said(10, 10)]).toEqual(['Turns left: 1', 'go on']);
  });

  test('percentile: levels that do not rise, or are no shares, are refused', () => {
    const refusal = (levels: readonly number[]): string => {
      try {
        open('percentile', { levels });
      } catch (error) {
        return (error as Error).message;
      }
      return 'nothing was refused';
    };
    const rising = 'Allowed: rising shares from 0 to 1, none of them twice.';
    expect(refusal([0.75, 0.5])).toContain(rising);
    expect(refusal([0.5, 0.5])).toContain(rising);
    expect(refusal([0.5, 1.5])).toContain('levels');
    expect(refusal([-0.1])).toContain('levels');
    expect(refusal([0.25, 0.5, 1])).toBe('nothing was refused');
    expect([refusal([0.75, 0.5]), refusal([0.5, 1.5])]).toMatchInlineSnapshot(`
      [
        "Turn control "percentile" cannot use this value of "levels". Seen: [0.75,0.5]. Allowed: rising shares from 0 to 1, none of them twice.",
        "Turn control "percentile" cannot use this value of "levels.1". Seen: 1.5. Allowed: a number <= 1.",
      ]
    `);
  });

  test('early-stop: a solution of 12 turns has a budget of 24, and one of 80 has 120', () => {
    const control = open('early-stop', { field: 'length' });
    const stops = (length: Json, turn: number) =>
      control.after!({ ...view, task: { length }, turn }, { ...now(1, control.start()), ...going });
    expect([stops(12, 23), stops(12, 24)]).toEqual(['go on', { stop: 'early-stop' }]);
    expect([stops(80, 119), stops(80, 120)]).toEqual(['go on', { stop: 'early-stop' }]);
    expect(stops(['up', 'left'], 4)).toEqual({ stop: 'early-stop' });
    expect(() => stops('far', 4)).toThrow('turns.field is "length"');
    // The task of a mix lies in one of the mix.
    const inMix = open('early-stop', { field: 'task.length' }).after!(
      { ...view, task: { environment: 'maze', task: { length: 12 } }, turn: 24 },
      { ...now(1, []), ...going },
    );
    expect(inMix).toEqual({ stop: 'early-stop' });
  });

  test('early-stop: the shortest success stands in for a solution; a failure and an ended episode change nothing', () => {
    const control = open('early-stop');
    const first = control.remember([stepOf(1, 5, -2)], now(1, control.start()));
    const memory = control.remember([stepOf(2, 3, -1)], now(2, first));
    const stops = (id: number, turn: number, done = false) =>
      control.after!({ ...view, task: { id }, turn }, { ...now(3, memory), done, success: done });
    expect([stops(0, 5), stops(0, 6), stops(0, 6, true)]).toEqual(['go on', { stop: 'early-stop' }, 'go on']);
    expect([stops(1, 119), stops(1, 120)]).toEqual(['go on', { stop: 'early-stop' }]);
    expect(control.remember([stepOf(3, 9)], now(3, memory))).toEqual(memory);
  });

  const attempted = (attempt: number, turns: number) => ({
    ...view,
    transitions: Array.from({ length: turns }, () => madeTransition(0, 0, { attempt })),
  });

  test('retry: five attempts of the usual turns; a success ends it, and so does the last', () => {
    const control = open('retry');
    expect(limitAt(control, 1)).toBe(45);
    const decided = (attempt: number, turns: number, done: boolean, success = false) =>
      control.after!({ ...attempted(attempt, turns), limit: 45 }, { ...now(1, null), done, success });
    const again = { retry: { role: 'user', content: 'That is wrong. Try again.' } };
    expect([decided(0, 1, true), decided(3, 4, true)]).toEqual([again, again]);
    expect([decided(0, 1, true, true), decided(4, 1, true), decided(0, 8, false)]).toEqual(
      Array(3).fill('go on'),
    );
    // An attempt that used up its turns is over as well; what others left of theirs is not for the last.
    expect(decided(0, 9, false)).toEqual(again);
    expect([decided(4, 8, false), decided(4, 9, false)]).toEqual(['go on', { stop: 'turn-limit' }]);
  });

  test('two-attempts: the second comes whatever the first was worth', () => {
    const control = open('two-attempts', { message: 'Again.' });
    const decided = (attempt: number, turns: number, ended: object) =>
      control.after!({ ...attempted(attempt, turns), limit: 18 }, { ...now(1, null), ...going, ...ended });
    const again = { retry: { role: 'user', content: 'Again.' } };
    expect(limitAt(control, 1)).toBe(18);
    expect(decided(0, 1, { done: true, success: true })).toEqual(again);
    expect(decided(0, 9, {})).toEqual(again);
    expect([decided(0, 1, {}), decided(1, 1, { done: true })]).toEqual(['go on', 'go on']);
    expect([decided(1, 8, {}), decided(1, 9, {})]).toEqual(['go on', { stop: 'turn-limit' }]);
  });

  test('extended: few turns, more where they are not enough, and no more than the last limit', () => {
    const control = open('extended', { limits: [4, 8], reminders: 2 });
    expect(limitAt(control, 1)).toBe(8);
    const said = (turn: number, more: object = {}, own = control) => {
      const decision = own.after!({ ...view, turn, limit: 8, ...more }, { ...now(1, null), ...going });
      return decision === 'go on' || !('say' in decision) ? decision : decision.say.content;
    };
    expect([1, 2, 3, 4, 5, 6, 7, 8].map((turn) => said(turn))).toEqual([
      ...['go on', 'Turns left: 2', 'Turns left: 1'],
      'Not finished: the limit is extended. Turns left: 4',
      ...['go on', 'Turns left: 2', 'Turns left: 1', 'go on'],
    ]);
    // On demand: only who asked since the limit before goes on.
    const asking = open('extended', { limits: [2, 4, 6], demand: 'more', reminders: 0 });
    const texts = ['left', 'more left', 'left', 'left'];
    const { calls, transitions } = playedEpisode(
      0,
      texts.map((text) => ({ call: { text } })),
    );
    const taken = (turns: number) => ({
      calls: calls.slice(0, turns),
      transitions: transitions.slice(0, turns),
    });
    expect(said(2, taken(2), asking)).toBe('Not finished: the limit is extended. Turns left: 2');
    expect(said(4, taken(4), asking)).toEqual({ stop: 'early-stop' });
    expect(() => open('extended', { limits: [4, 4] })).toThrow('rising numbers');
  });

  describe('turns that the context of the role answered count', () => {
    /** The environment took acts 0 and 3; those between were calls of the context's own tools. */
    const { calls, transitions } = playedEpisode(
      0,
      ['left', 'search', 'more, search', 'left'].map((text) => ({ call: { text } })),
    );
    const searched = { ...view, calls, transitions: [transitions[0]!, transitions[3]!], turn: 4 };

    test('extended: a limit that came among them holds, and so does a demand', () => {
      const decided = (limits: readonly number[], demand: string) =>
        open('extended', { limits, demand, reminders: 0 }).after!(
          { ...searched, limit: 9 },
          { ...now(1, null), ...going },
        );
      const message = { role: 'user', content: 'Not finished: the limit is extended. Turns left: 5' };
      expect(decided([3, 9], 'more')).toEqual({ say: message });
      expect(decided([3, 9], 'please')).toEqual({ stop: 'early-stop' });
      expect(decided([1, 9], 'please')).toBe('go on');
      const control = open('extended', { limits: [4, 9], demand: 'more' });
      const written = (own: object) => control.script!('left', { ...searched, ...own }, now(1, null));
      expect(written({ turn: 3, calls: calls.slice(0, 3), transitions: [transitions[0]!] })).toBe(
        'more left',
      );
      expect(written({})).toBe('left');
    });

    test('percentile: the extension is told of after them', () => {
      const control = open('percentile', { levels: [0.5, 1], successes: 2 });
      const decided = control.after!({ ...searched, limit: 9 }, { ...now(1, [2, 4, 9]), ...going });
      expect(decided).toEqual({
        say: { role: 'user', content: 'Not finished: the limit is extended. Turns left: 5' },
      });
    });

    test('retry: an attempt ends with its share of them', () => {
      const decided = (limit: number) =>
        open('retry', { attempts: 2 }).after!({ ...searched, limit }, { ...now(1, null), ...going });
      expect(decided(8)).toHaveProperty('retry');
      expect(decided(10)).toBe('go on');
    });

    test('what is remembered of successes are all of their turns', () => {
      const episode = { ...playedEpisode(0, []), calls, transitions: searched.transitions };
      const group: Group = { step: 1, group: 0, members: [{ ...episode, success: { agent: true } }] };
      const control = open('percentile');
      expect(control.remember([group], now(1, []))).toEqual([4]);
    });
  });

  test('thinking-units: a task is answered again until the answer stays, whatever it was worth', () => {
    const control = open('thinking-units', { units: 4, message: 'Again.', end: 'final' });
    expect(limitAt(control, 1)).toBe(36);
    const decided = (answers: readonly string[], text = '', valid = true) =>
      control.after!(
        {
          ...{ ...view, limit: 4 },
          calls: playedEpisode(0, [{ call: { text } }]).calls,
          transitions: answers.map((action, attempt) => madeTransition(0, 0, { attempt, action, valid })),
        },
        { ...now(1, null), done: true, success: true },
      );
    const again = { retry: { role: 'user', content: 'Again.' } };
    expect([decided(['3']), decided(['3', '4']), decided(['4', '3', '4'])]).toEqual([again, again, again]);
    expect([decided(['3', '3']), decided(['1', '2', '3', '4']), decided(['3'], 'final 3')]).toEqual(
      Array(3).fill('go on'),
    );
    // The same thing that is no answer is none.
    expect(decided(['x', 'x'], '', false)).toEqual(again);
  });

  test('modes: each mode has turns of its own, and a mode that is not named the usual ones', () => {
    const control = open('modes', { turns: { instant: 1, short: 3 } });
    const decided = (mode: string | undefined, turn: number, done = false) =>
      control.after!(
        { ...view, turn, transitions: [madeTransition(0, 0, mode === undefined ? {} : { facts: { mode } })] },
        { ...now(1, null), done, success: done },
      );
    const stop = { stop: 'early-stop' };
    expect([decided('instant', 1), decided('short', 2), decided('short', 3)]).toEqual([stop, 'go on', stop]);
    expect([decided('agentic', 9), decided(undefined, 9), decided('instant', 1, true)]).toEqual(
      Array(3).fill('go on'),
    );
  });
});

test.each([
  ['scaling-inter', { limits: [2, 4, 8], every: 3 }],
  ['annealed', { initial: 12, every: 3 }],
  ['percentile', { levels: [0.25, 0.75], successes: 10 }],
  ['early-stop', {}],
  ['retry', {}],
  ['two-attempts', {}],
])('%s: resumed after any step, limits and decisions are the same', (name, options) => {
  const steps = fc.array(fc.array(fc.integer({ min: -12, max: 12 }), { maxLength: 4 }), { minLength: 1 });
  fc.assert(
    fc.property(steps, fc.nat(), (played, cut) => {
      const told = (resumeAt: number): unknown[] => {
        let control = open(name, options);
        let memory = control.start();
        return played.map((turns, index) => {
          if (index === resumeAt) {
            control = open(name, options);
            memory = JSON.parse(JSON.stringify(memory)) as Json;
          }
          const at = now(index + 1, memory);
          const limit = limitAt(control, index + 1, memory);
          const decided = [1, 4, 9].map((turn) =>
            control.after?.({ ...view, task: { id: 0 }, turn }, { ...at, ...going }),
          );
          memory = control.remember([stepOf(index + 1, ...turns.filter(Boolean))], at);
          return [limit, decided, memory];
        });
      };
      expect(told(cut % played.length)).toEqual(told(-1));
    }),
    { numRuns: 50 },
  );
});
