/** What several rows of an episode make: each role what it said and earned, in the order in which it was said. */

import { expect, test } from 'vitest';
import type { Episode } from '../core/episode.ts';
import type { Message } from '../core/messages.ts';
import { madeCall, madeEpisode, madeTransition } from '../core/testing/made-episodes.ts';
import { roleGroups } from '../core/trajectory.ts';
import { episodesOfRows } from './episodes-of-rows.ts';
import { pairsOfRows } from './pairs-of-rows.ts';
import { parseRow } from './read-rows.ts';
import type { ConversationRow } from './row.ts';
import { rowsOfEpisode } from './rows-of-episode.ts';
import { statisticsOf } from './statistics.ts';
import { rowLine } from './write-rows.ts';

const reading = { environment: 'game', role: 'X', write: ({ content }: Message): string => content };

/** A turn of a role, which sees a board, and what came of it. */
const said = (id: number, role: string, text: string, asked = `${role} sees ${id}`) =>
  madeCall(id, 1, {
    role,
    ...(id > 1 && { parent: id - 2 }),
    by: { kind: 'policy', name: `${role}-player`, version: 0 },
    messages: [{ role: 'user', content: asked }],
    text,
  });

/** X wins in its second move; its first was worth something that O's answer brought. */
function game(member = 0, more: Partial<Episode> = {}): Episode {
  return madeEpisode(
    member,
    [said(0, 'X', 'x1'), said(1, 'O', 'o1'), said(2, 'X', 'x2'), said(3, 'O', 'o2'), said(4, 'X', 'x3')],
    [
      madeTransition(0, 0, { role: 'X' }),
      madeTransition(1, 0, { role: 'O', rewards: { X: 0.25, O: 0 } }),
      madeTransition(2, 0, { role: 'X' }),
      madeTransition(3, 0, { role: 'O' }),
      madeTransition(4, 0, { role: 'X', rewards: { X: 1, O: -1 } }),
    ],
    more,
  );
}

const rowsOf = (episode: Episode): ConversationRow[] =>
  rowsOfEpisode(episode, episode, { kind: 'run' }).map((row) => parseRow(rowLine(row)) as ConversationRow);

const episodesIn = (rows: readonly ConversationRow[]): readonly Episode[] =>
  episodesOfRows(rows, reading).groups.flatMap(({ members }) => members);

const turnsOf = (episode: Episode) =>
  roleGroups([{ step: 0, group: 0, members: [episode] }]).map(({ role, members: [one] }) => ({
    role,
    outcome: one!.outcome,
    success: one!.success,
    turns: one!.turns.map(({ calls, reward }) => [calls.map(({ text }) => text).join(), reward]),
  }));

test('a game of two roles comes back as it was: whose turns, in which order, and what each earned', () => {
  const [again, ...more] = episodesIn(rowsOf(game()));
  expect(more).toEqual([]);
  expect(again!.calls.map(({ role, text }) => [role, text])).toEqual([
    ['X', 'x1'],
    ['O', 'o1'],
    ['X', 'x2'],
    ['O', 'o2'],
    ['X', 'x3'],
  ]);
  expect(again!.calls.map(({ id, parent }) => [id, parent])).toEqual([
    [0, undefined],
    [1, undefined],
    [2, 0],
    [3, 1],
    [4, 2],
  ]);
  expect(again).toMatchObject({
    outcome: { X: 1.25, O: -1 },
    success: { X: true, O: false },
    seats: { X: { player: 'X-player' }, O: { player: 'O-player' } },
  });
  expect(turnsOf(again!)).toEqual([
    {
      role: 'X',
      outcome: 1.25,
      success: true,
      turns: [
        ['x1', 0.25],
        ['x2', 0],
        ['x3', 1],
      ],
    },
    {
      role: 'O',
      outcome: -1,
      success: false,
      turns: [
        ['o1', 0],
        ['o2', -1],
      ],
    },
  ]);
  expect(turnsOf(again!)).toEqual(turnsOf(game()));
});

test('a file that tells no turns has one role after the other, each with its own', () => {
  const rows = rowsOf(game()).map(({ source: { turns: _, ...source }, ...row }) => ({ ...row, source }));
  const [again, ...more] = episodesIn(rows);
  expect(more).toEqual([]);
  expect(again!.calls.map(({ text }) => text)).toEqual(['x1', 'x2', 'x3', 'o1', 'o2']);
  expect(turnsOf(again!)).toEqual(turnsOf(game()));
});

test('both roles may have said the same, and a game that is recorded again replaces what was there', () => {
  const alike = madeEpisode(
    0,
    [said(0, 'X', 'rock', 'go'), said(1, 'O', 'rock', 'go')],
    [madeTransition(0, 0, { role: 'X' }), madeTransition(1, 0, { role: 'O' })],
  );
  const rows = rowsOf(alike);
  const once = episodesIn(rows);
  expect(once.map(({ outcome }) => outcome)).toEqual([{ X: 0, O: 0 }]);
  expect(episodesIn([...rows, ...rows])).toEqual(once);
  const failed = rowsOf(game(0, { stop: 'failed:engine' }));
  expect(episodesIn(failed)[0]!.calls).toHaveLength(5);
  expect(episodesIn([...failed, ...rowsOf(game())])).toEqual(episodesIn(rowsOf(game())));
});

test('what a sub-agent says stands where it was said', () => {
  const sub = madeCall(1, 1, { messages: [{ role: 'user', content: 'look' }], text: 'found' });
  const [first, last] = [
    madeCall(0, 1, { messages: [{ role: 'user', content: 'do' }], text: 'ask' }),
    madeCall(2, 1, { parent: 0, messages: [{ role: 'user', content: 'found' }], text: 'done' }),
  ];
  const episode = madeEpisode(
    0,
    [first, sub, last],
    [0, 1, 2].map((id) => madeTransition(id)),
  );
  const rows = rowsOf(episode);
  expect(rows.map(({ source }) => source.turns)).toEqual([[1], [0, 2]]);
  expect(episodesIn(rows)[0]!.transitions.map(({ action }) => action)).toEqual(['ask', 'found', 'done']);
});

test('roles of an episode are of one task, and are not paired with each other', () => {
  const rows = [0, 1].flatMap((member) => rowsOf(game(member, { outcome: { X: member, O: -member } })));
  expect(statisticsOf(rows)).toMatchObject({ rows: 4, episodes: 2, tasks: 1 });
  expect(pairsOfRows(rows).map(({ source: { role } }) => role)).toEqual(['X', 'O']);
});
