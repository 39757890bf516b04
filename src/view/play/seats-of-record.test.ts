/** Episodes of games go on with everybody in their seats: also whom a league seated, and only learners are steered. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Episode } from '../../core/episode.ts';
import { train } from '../../exports/train.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import { trainConfigSchema } from '../../train/config/config.ts';
import type { Seats } from '../../train/kit/seats.ts';
import { measureEpisode } from './measure-episode.ts';
import type { PlayEvent, PlayMove } from './messages.ts';
import { playEpisode } from './play-episode.ts';
import type { Recorded } from './recorded.ts';
import { seatsOf } from './seats-of-record.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-seats-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(async () => {
  const small = {
    ...{ seed: 5, steps: 3, threads: 1 },
    model: { width: 16, layers: 1, heads: 2, hidden: 32 },
    clone: { demonstrations: 32, steps: 4, batch: 16 },
    rollout: { tasks: 4, group: 2, choices: true },
    evaluation: { every: 0, finalTasks: 2 },
  };
  const league = { name: 'league', every: 1, most: 8, selfPlay: 0, opponents: 3 };
  const dice = 'script:random';
  const make = (name: string, settings: object) =>
    train({ world: 'kuhn-poker', name, runs: root, settings: { ...small, ...settings } });
  await make('league', { tasks: league, players: { dice } });
  await make('rival', { players: { rival: dice }, seats: { second: 'rival' } });
}, 120_000);

type Met = { readonly episode: Episode; readonly at: { place: string; group: number; member: number } };

const storedIn = (run: string): Met[] =>
  [1, 2, 3].flatMap((step) =>
    readEpisodeFile(join(root, run, 'rollouts', `${step}.jsonl.gz`))!.groups.flatMap(({ members }, group) =>
      members.map((episode, member) => ({ episode, at: { place: String(step), group, member } })),
    ),
  );

/** Episodes of a run with this player in some role. */
const against = (run: string, player: string): Met[] =>
  storedIn(run).filter(({ episode }) => Object.values(episode.seats).some((seat) => seat.player === player));

async function play(
  run: string,
  { at }: Pick<Met, 'at'>,
  turns: number,
  { move = () => ({ kind: 'sample' }), player }: { move?: () => PlayMove; player?: string } = {},
): Promise<PlayEvent[]> {
  const events: PlayEvent[] = [];
  await playEpisode({
    root,
    request: { run, split: 'train', task: 0, attempt: 0, from: { ...at, turns } },
    ...(player !== undefined && { player }),
    tell: (event) => events.push(event),
    move: async () => move(),
    signal: new AbortController().signal,
  });
  expect(events.at(-1)).toMatchObject({ kind: 'end', stop: 'done' });
  return events;
}

/** Each turn with the role that it was: who played it, and whether somebody could have. */
function turnsIn(events: readonly PlayEvent[]) {
  let state: Extract<PlayEvent, { kind: 'state' }> | undefined;
  return events.flatMap((event) => {
    if (event.kind === 'state') state = event;
    return event.kind === 'turn' ? [{ role: state!.role, told: state!.player, ...event }] : [];
  });
}

/** The turns of the role that a learner has are its own, those of the other role that player's. */
function expectSeated(events: readonly PlayEvent[], { episode }: Met, by: 'policy' | 'person'): void {
  const turns = turnsIn(events);
  expect(turns.length).toBeGreaterThan(1);
  for (const turn of turns) {
    const { player } = episode.seats[turn.role]!;
    const isLearner = player === 'learner';
    expect([turn.by, turn.player, turn.told]).toEqual(
      isLearner ? [by, undefined, undefined] : ['other', player, player],
    );
  }
}

test('whom a league seated plays on in its role', async () => {
  for (const player of ['self@0', 'self@1', 'dice']) {
    const [first] = against('league', player);
    expectSeated(await play('league', first!, 0), first!, 'policy');
    // Played to its end, nobody is needed.
    expect((await play('league', first!, Number.POSITIVE_INFINITY)).at(-1)).toMatchObject({ differs: [] });
  }
  const [past] = against('league', 'self@1');
  const values: PlayEvent[] = [];
  await measureEpisode({
    ...{ root, signal: new AbortController().signal },
    request: {
      ...{ run: 'league', split: 'train', task: 0, attempt: 0, continuations: 4 },
      from: { ...past!.at, turns: 0 },
    },
    tell: (event) => values.push(event),
  });
  expect(values.filter(({ kind }) => kind === 'measured')).toHaveLength(past!.episode.transitions.length);
}, 60_000);

test('whoever steers is asked for the roles of learners only', async () => {
  const own = storedIn('rival');
  const one = own.find(({ episode }) => episode.transitions.length > 1)!;
  let asked = 0;
  const move = (): PlayMove => {
    asked++;
    return { kind: 'type', text: 'check' };
  };
  const events = await play('rival', one, 0, { move });
  expectSeated(events, one, 'person');
  expect(asked).toBe(turnsIn(events).filter(({ role }) => role === 'first').length);
  // A player in the place of the checkpoint leaves the others where they are.
  expectSeated(await play('rival', one, 0, { player: 'script:expert' }), one, 'policy');
  const [met] = against('league', 'dice');
  expectSeated(await play('league', met!, 0, { player: 'script:expert' }), met!, 'policy');
}, 60_000);

test('weights that are gone are named', async () => {
  const [gone] = against('league', 'self@1');
  rmSync(join(root, 'league', 'past', '1'), { recursive: true });
  const { message, code } = await play('league', gone!, 0).then(
    () => expect.unreachable(),
    (error: { message: string; code: string }) => error,
  );
  expect(code).toBe('play-unrecorded');
  expect(message).toBe(
    `Episode ${gone!.at.place}/${gone!.at.group}/${gone!.at.member} cannot be gone on with as it was played. Seen: its run has not kept the weights after step 1, with which "self@1" played. Replay all of it (without --to), or go on with an episode against somebody who is still there.`,
  );
  await play('league', gone!, Number.POSITIVE_INFINITY);
}, 60_000);

test('an earlier self is the one of the step, and strangers have no seat', async () => {
  const called: unknown[] = [];
  const seats = {
    before: async (step: number) => void called.push(step),
    ready: async (names: readonly string[]) => void called.push(names),
  } as unknown as Seats;
  const config = trainConfigSchema.parse({ players: { self: 'past:1', 'old@2': 'lake@3' } });
  const seated = (player: string) => ({ player, version: 0 });
  const past = (label: string): Recorded =>
    ({
      ...{ label, key: { step: 7 } },
      episode: {
        seats: {
          a: seated('self'),
          b: seated('self@4'),
          c: seated('old@2'),
          d: seated('learner'),
          e: seated('script'),
        },
      },
    }) as unknown as Recorded;
  expect(await seatsOf(past('training'), { seats, config })).toEqual({
    ...{ a: 'self', b: 'self@4', c: 'old@2', d: 'learner' },
  });
  expect(called).toEqual([7, ['self', 'self@4', 'old@2', 'learner']]);
  // Evaluations have the seats of the settings.
  expect(await seatsOf(past('greedy'), { seats, config })).toEqual({});
  expect(await seatsOf(past('training'), { config })).toEqual({});
  expect(called).toHaveLength(2);
});
