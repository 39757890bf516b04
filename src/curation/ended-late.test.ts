/** Groups that end a step after the one that asked for them (`batches.order=ended`) are remembered; inserted episodes are not. */

import { expect, test } from 'vitest';
import type { Episode, Group } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import { Rng } from '../core/rng.ts';
import { madeKey, playedEpisode } from '../core/testing/made-episodes.ts';
import { promptedGroups } from '../train/loop/tell-prompts.ts';
import { curate } from './curate.ts';
import { defineCuration } from './curation.ts';
import { curationRegistry, tasksRegistry } from './registry.ts';

/** Episodes of two turns that a step asked for; with credit where they were learned from. */
const played = (step: number, task: number, ...rewards: readonly number[]): Group => ({
  step,
  group: task,
  members: rewards.map((reward, member) =>
    playedEpisode(member, [{}, { reward }], {
      key: madeKey({ step, task, group: task, member }),
      credit: {
        agent: { inBaseline: true, inLoss: true, weight: 1, trainedIn: 3, advantages_K: [reward - 0.5] },
      },
    }),
  ),
});

/** The third step learns from groups that the second asked for. */
const late = [played(2, 4, 0, 1), played(2, 5, 0, 0), played(2, 6, 1, 1)];
const now = (memory: Json) => ({ step: 3, memory, rng: Rng.of('late'), roles: ['agent'], players: [] });

const sources = ['curriculum', 'dart', 'exit', 'failure-replay', 'revisit'] as const;
const curations = ['success-replay', 'self-imitation'] as const;
const opened = [
  ...sources.map((name) => [name, tasksRegistry.find(name).create()] as const),
  ...curations.map((name) => [name, curationRegistry.find(name).create()] as const),
];

test.each(opened)('%s remembers them as those of its own step', (_, source) => {
  const memory = source.remember(late, now(source.start()));
  const own = late.map(({ members, ...group }) => ({
    ...group,
    step: 3,
    members: members.map((one): Episode => ({ ...one, key: { ...one.key, step: 3 } })),
  }));
  const asIfOwn = source.remember(own, now(source.start()));
  expect(memory).not.toEqual(source.start());
  expect(JSON.parse(JSON.stringify(memory).replaceAll('"step":2', '"step":3'))).toEqual(asIfOwn);
});

test.each(opened)('%s does not remember what was inserted, whatever step played it', (_, source) => {
  // Into a group that was played, and as a group of its own.
  const [inserted, alone] = [played(2, 7, 1), played(3, 8, 1)].map(({ members }) => members);
  const [first, ...others] = late;
  const joined = { ...first!, members: [...first!.members, ...inserted!] };
  const fresh = { step: 3, group: 9, members: alone! };
  const memory = source.remember([joined, ...others, fresh], now(source.start()));
  expect(memory).toEqual(source.remember(late, now(source.start())));
});

test('sources of prompts are told of them', () => {
  const inserted = { ...late[0]!, members: [...late[0]!.members, ...played(1, 7, 1).members] };
  expect(promptedGroups([inserted]).map(({ group }) => group)).toEqual([late[0]]);
});

test('new groups belong to the step that learns from them, under a number that none of them played', async () => {
  const stored = played(3, 11, 1);
  const insert = defineCuration({
    name: 'insert',
    inserts: true,
    choose: () => ({ insert: [{ group: 'new', episode: stored.members[0]!.key }] }),
  });
  const { groups } = await curate(late, new Map([['insert', insert.create()]]), {
    ...{ step: 3, round: 0, batch: 3, minimumMembers: 2, seed: 1, memory: {}, whole: true },
    read: async () => [stored],
  });
  expect(groups.map(({ step, group }) => [step, group])).toEqual([
    [2, 4],
    [2, 5],
    [2, 6],
    [3, 12],
  ]);
});
