import { expect, test } from 'vitest';
import type { ShownCall, ShownEpisode, ShownTurn } from '../../shapes.ts';
import { lanesOf, ticksOf } from './lanes.ts';

/** What a lane is made of; nothing else of a call is read. */
const call = (id: number, at: number, more: Partial<ShownCall> = {}): ShownCall =>
  ({ id, at, waitMs: 1, policyMs: 4, role: 'agent', purpose: 'act', ...more }) as ShownCall;
const turn = (at: number, ...calls: readonly number[]): ShownTurn =>
  ({ at, environmentMs: 2, calls }) as unknown as ShownTurn;

const episode: Pick<ShownEpisode, 'calls' | 'turns'> = {
  calls: [
    call(0, 0),
    call(1, 10, { parent: 0 }),
    // A summary continues nothing that comes after it.
    call(2, 20, { parent: 1, newPath: 'asked', purpose: 'summarize' }),
    call(3, 30, { parent: 1, newPath: 'window' }),
    // The second call ran a sub-agent, and its own second call another.
    call(4, 40, { under: 1, role: 'helper' }),
    call(5, 50, { parent: 4, role: 'helper' }),
    call(6, 60, { under: 5, role: 'checker', waitMs: 0 }),
  ],
  turns: [turn(6, 0), turn(36, 2, 3), turn(56, 5)],
};

test('each path is a lane, and sub-agents stand under the call that ran them, however deep', () => {
  expect(lanesOf(episode).map(({ name, depth }) => `${' '.repeat(depth)}${name}`)).toEqual([
    'agent',
    'summarize, agent',
    'window, agent',
    ' helper',
    '  checker',
  ]);
});

test('lanes of one name are numbered', () => {
  const calls = [call(0, 0), ...[1, 2].map((id) => call(id, 10 * id, { parent: id - 1, newPath: 'window' }))];
  const names = lanesOf({ calls: [...calls, call(3, 40, { under: 2 })], turns: [] }).map(({ name }) => name);
  expect(names).toEqual(['agent', 'window, agent', 'window 2, agent', 'agent 2']);
});

test('a lane has waits, completions and steps of the environment in the order of time', () => {
  const [main, , , helper, checker] = lanesOf(episode).map(({ segments }) =>
    segments.map(({ kind, from, to }) => `${kind} ${from}-${to}`),
  );
  expect(main).toEqual(['wait 0-1', 'complete 1-5', 'environment 6-8', 'wait 10-11', 'complete 11-15']);
  expect(helper!.at(-1)).toBe('environment 56-58');
  // What took no time is not drawn.
  expect(checker).toEqual(['complete 60-64']);
});

test('a step belongs to the call that acted, not to those that were asked before it', () => {
  const [, summary, window] = lanesOf(episode).map(({ segments }) => segments.map(({ kind }) => kind));
  expect(summary).not.toContain('environment');
  expect(window).toContain('environment');
});

test('ticks are round numbers, about six', () => {
  expect(ticksOf(1000)).toEqual([0, 200, 400, 600, 800]);
  expect(ticksOf(73)).toEqual([0, 20, 40, 60]);
});
