/** Modes: chosen once by the policy or forced, read before every act, and told to credit. */

import { expect, test } from 'vitest';
import { world as frozenLake } from '../../../envs/frozen-lake/index.ts';
import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { apo } from '../../credit/shaping/apo.ts';
import { demonstrate } from '../../synth/demonstrations.ts';
import { Boundary } from '../boundary.ts';
import { unwatched } from '../watch.ts';
import { modeIn, modes } from './modes.ts';
import { nextActUnasked } from './next-act.ts';
import { expectExact, play, player, renderer, TURNS } from './searching.test-helper.ts';
import { newThread, type Setting } from './thread.ts';

const options = { modes: ['search', 'what'], instruction: 'note', told: 'now' };

test('the policy is asked once, its answer stands before every act, and every turn knows it', async () => {
  const { policy, requests, read } = player(({ messages }) =>
    messages.at(-1)!.content.startsWith('note') ? 'what' : undefined,
  );
  const episode = await play(modes, { ...options, forced: 0 }, policy);
  expectExact(episode, episode, requests);
  expect(episode.calls.map(({ purpose }) => purpose)).toEqual(['mode', ...Array(TURNS + 1).fill('act')]);
  expect(read().slice(0, 3)).toEqual([
    'question note search what <act>',
    'question note search what <act> what <end> <act>',
    'question note search what <act> what <end> <act> search <end> r1 <act>',
  ]);
  // One path: nothing is read twice.
  expect(episode.calls.slice(1).every(({ kept }) => kept === undefined)).toBe(true);
  expect(episode.transitions.every(({ facts }) => facts?.mode === 'what')).toBe(true);
  const control = await play(modes, { ...options, forced: 0 }, player(() => 'what').policy, {
    trained: false,
  });
  expect(control.calls[0]).toMatchObject({ purpose: 'mode', trainable: 'left-out' });
});

test('a forced mode is told in place of the question', async () => {
  const { policy, requests, read } = player();
  const episode = await play(modes, { ...options, forced: 1 }, policy);
  expectExact(episode, episode, requests);
  expect(episode.calls.every(({ purpose }) => purpose === 'act')).toBe(true);
  const mode = episode.transitions[0]!.facts!.mode!;
  expect(options.modes).toContain(mode);
  expect(read().at(-1)).toMatch(new RegExp(`^question now ${mode} <act> search <end> r1 `));
});

test('nobody is told a mode where it is measured', async () => {
  const { policy } = player(({ messages }) =>
    messages.at(-1)!.content.startsWith('note') ? 'what' : undefined,
  );
  const episode = await play(modes, { ...options, forced: 1 }, policy, {}, 'test');
  expect(episode.calls[0]).toMatchObject({ purpose: 'mode', text: 'what' });
});

test('a text that names no mode, or several, is the last mode', () => {
  const all = ['instant', 'reasoning', 'agentic'];
  expect(['Instant.', 'reasoning', 'instant or agentic', 'hm'].map((text) => modeIn(text, all))).toEqual([
    'instant',
    'reasoning',
    'agentic',
    'agentic',
  ]);
  // What the fact is for.
  expect([apo.needs, modes.gives]).toEqual([['mode'], ['mode']]);
});

test('nor where no task is played, as in a session of a gateway', async () => {
  const context = modes.create({ ...options, forced: 1 });
  const setting: Setting = {
    ...{ context, renderer, role: 'agent', task: null, contextLength: 200, limit: 12 },
    rng: () => Rng.of('gateway'),
  };
  const boundary = new Boundary(new AbortController().signal, unwatched);
  const guard = { boundary, timeoutMs: 500, place: 'a session' };
  const next = nextActUnasked(newThread(context), [user('question')], setting, guard);
  // It asks.
  await expect(next).rejects.toMatchObject({ stop: 'early-stop', message: 'mode' });
});

test('demonstrations choose each mode as often, whatever was forced on others', async () => {
  const names = ['search', 'what', 'was'];
  const game = frozenLake.create(frozenLake.options.parse({}));
  const groups = await demonstrate(game, {
    ...{ demonstrations: 300, beginnerShare: 0, randomRate: 0, seed: 1, maxTurns: 4, turnTimeoutMs: 5000 },
    context: modes.create({ modes: names }),
    ...{ signal: new AbortController().signal, watch: unwatched },
  });
  const chosen = groups.flatMap(({ members }) =>
    members.flatMap(({ calls }) => calls.filter(({ purpose }) => purpose === 'mode').map(({ text }) => text)),
  );
  expect(chosen.length).toBeGreaterThan(100);
  for (const name of names) {
    const share = chosen.filter((text) => text === name).length / chosen.length;
    expect([name, Math.abs(share - 1 / 3) < 0.12]).toEqual([name, true]);
  }
});
