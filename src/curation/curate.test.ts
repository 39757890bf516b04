import { expect, test } from 'vitest';
import type { Choice, Episode, EpisodeKey, Group } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import { madeGroup, madeKey, playedEpisode } from '../core/testing/made-episodes.ts';
import { type Curated, curate } from './curate.ts';
import { type Chosen, type DefinedCuration, defineCuration } from './curation.ts';

const groupOf = (group: number, ...rewards: number[]): Group => ({
  step: 2,
  group,
  members: rewards.map((reward, member) =>
    playedEpisode(member, [{ reward }], { key: madeKey({ step: 2, task: group, group, member }) }),
  ),
});

/** Episodes of step 1: group 7 played task 0 twice, and a branch of its first episode. */
const first = playedEpisode(0, [{}, { reward: 5 }], {
  key: madeKey({ group: 7 }),
  credit: { agent: { inBaseline: true, inLoss: true, weight: 1, trainedIn: 1, advantages_K: [9, 9] } },
});
const branch = playedEpisode(1, [{ reward: 3 }], {
  key: madeKey({ group: 7, member: 1 }),
  branchedFrom: { episode: first.key, transition: 0, calls: 1 },
  outcome: { agent: 3 },
});
const stored: Group = { step: 1, group: 7, members: [first, branch] };

const chooses = (
  name: string,
  choose: (groups: readonly Group[], isIn: (episode: Episode) => boolean) => Chosen,
  more: { weighs?: true; inserts?: true } = {},
) =>
  defineCuration({
    name,
    ...more,
    choose: (groups, { isIn }) => choose(groups, (own) => isIn(own, 'agent')),
  });

function curated(groups: readonly Group[], ...curations: readonly DefinedCuration[]): Promise<Curated> {
  return curatedIn(true, groups, ...curations);
}

/** @param whole whether these are all groups of the step */
function curatedIn(
  whole: boolean,
  groups: readonly Group[],
  ...curations: readonly DefinedCuration[]
): Promise<Curated> {
  return curate(groups, new Map(curations.map((one) => [one.name, one.create()] as const)), {
    ...{ step: 2, round: 0, batch: groups.length, minimumMembers: 2, seed: 1, memory: {}, whole },
    read: async (keys: readonly EpisodeKey[]) =>
      keys.some((key) => stored.members.some((own) => keyText(own.key) === keyText(key))) ? [stored] : [],
  });
}

const learn: Choice = { inBaseline: true, inLoss: true, weight: 1 };
const told = ({ learned }: Curated) =>
  learned.map(({ id, members }) => [id, members.map(({ choice }) => choice ?? learn)]);

test('without curations all usable groups are learned from, as they are', async () => {
  const failed = { ...groupOf(1, 1, 0), members: [...groupOf(1, 1).members] };
  const { learned, groups, wanted } = await curated([groupOf(0, 1, 0), failed]);
  expect(learned.map(({ id }) => id)).toEqual(['2/0']);
  expect([groups.length, wanted]).toEqual([2, 0]);
});

test('choices are multiplied, and a later curation sees what earlier ones left', async () => {
  const seen: string[][] = [];
  const noFirst = chooses(
    'no-first',
    () => ({
      choice: ({ key }) =>
        key.member === 0 ? { ...learn, inBaseline: false, inLoss: false } : { ...learn, weight: 0.5 },
      wanted: 1,
    }),
    { weighs: true },
  );
  const mask = chooses(
    'mask',
    (groups, isIn) => {
      seen.push(groups.flatMap(({ members }) => members.filter(isIn).map(({ key }) => keyText(key))));
      return { choice: () => ({ ...learn, inLoss: false, weight: 0.5, weights_K: [2] }), wanted: 3 };
    },
    { weighs: true },
  );
  const result = await curated([groupOf(0, 1, 0, 2)], noFirst, mask);
  expect(seen).toEqual([['2/0/1', '2/0/2']]);
  const both = { inBaseline: true, inLoss: false, weight: 0.25, weights_K: [2] };
  expect(told(result)).toEqual([['2/0', [both, both]]]);
  expect(result.wanted).toBe(3);
});

test('an inserted episode joins its group without its old credit; its prefix comes along and sets no baseline', async () => {
  const insert = chooses('insert', () => ({ insert: [{ group: 1, episode: branch.key }] }));
  const { groups, learned } = await curated([groupOf(0, 1, 0), groupOf(1, 1, 0)], insert);
  expect(groups[1]!.members.map(({ key }) => keyText(key))).toEqual(['2/1/0', '2/1/1', '1/7/0', '1/7/1']);
  expect(groups[1]!.members.some(({ credit }) => credit)).toBe(false);
  expect(learned[1]!.members.map(({ id, groupId }) => [id, groupId])).toEqual([
    ['2/1/0', '2/1'],
    ['2/1/1', '2/1'],
    ['1/7/1', '2/1'],
  ]);
  expect(learned[1]!.members[2]!.turns).toHaveLength(2);
});

test('an episode that is asked for after its own branch is learned from, and is there once', async () => {
  const insert = chooses('insert', () => ({
    insert: [
      { group: 'new', episode: branch.key },
      { group: 'new', episode: first.key },
    ],
  }));
  const { groups, learned } = await curated([groupOf(0, 1, 0)], insert);
  expect(groups[1]!.members.map(({ key }) => keyText(key))).toEqual(['1/7/1', '1/7/0']);
  expect(learned[1]!.members.map(({ id }) => id)).toEqual(['1/7/1', '1/7/0']);
});

test('new groups are numbered on, one for each task', async () => {
  const insert = chooses('insert', () => ({
    insert: [
      { group: 'new', episode: first.key },
      { group: 'new', episode: branch.key },
    ],
  }));
  const { groups } = await curated([groupOf(0, 1, 0)], insert);
  expect(
    groups.map(({ step, group, members }) => [step, group, members.map(({ key }) => keyText(key))]),
  ).toEqual([
    [2, 0, ['2/0/0', '2/0/1']],
    [2, 1, ['1/7/0', '1/7/1']],
  ]);
});

test('what two curations insert is there once, as the first left it', async () => {
  const insert = () => ({ insert: [{ group: 0, episode: branch.key }] });
  const again = () => ({
    insert: [
      { group: 'new' as const, episode: branch.key },
      { group: 'new' as const, episode: first.key },
    ],
  });
  const inserting = [
    chooses('insert', insert, { inserts: true }),
    chooses('again', again, { inserts: true }),
  ];
  const { groups } = await curated([groupOf(0, 1, 0)], ...inserting);
  expect(groups.map(({ members }) => members.map(({ key }) => keyText(key)))).toEqual([
    ['2/0/0', '2/0/1', '1/7/0', '1/7/1'],
  ]);
});

test.each(['insert', 'look'])(
  'groups are found to be constant after insertion, whichever stands first: %s',
  async (begins) => {
    const insert = chooses('insert', () => ({ insert: [{ group: 0, episode: first.key }] }), {
      inserts: true,
    });
    const seen: number[][] = [];
    const look = chooses('look', (groups) => {
      seen.push(groups.flatMap(({ members }) => members.map(({ outcome }) => outcome.agent!)));
      return {};
    });
    await curated([groupOf(0, 1, 1)], ...(begins === 'insert' ? [insert, look] : [look, insert]));
    expect(seen).toEqual([[1, 1, 5]]);
  },
);

test('whoever inserts without saying so does it first and into a whole step, or not at all', async () => {
  const insert = chooses('insert', () => ({ insert: [{ group: 0, episode: first.key }] }));
  const look = chooses('look', () => ({}));
  const groups = [groupOf(0, 1, 1)];
  expect((await curated(groups, insert, look)).groups[0]!.members).toHaveLength(3);
  const refused = /Curation "insert" inserts episodes after another.*and does not say so.*inserts: true/;
  await expect(curated(groups, look, insert)).rejects.toThrow(refused);
  await expect(curatedIn(false, groups, insert)).rejects.toThrow(refused);
});

test.each([
  [
    'an episode that is there',
    { insert: [{ group: 0, episode: madeKey({ step: 2 }) }] },
    /not stored.*2\/0\/0/,
  ],
  [
    'the same one twice',
    {
      insert: [
        { group: 0, episode: first.key },
        { group: 'new', episode: first.key },
      ],
    },
    /the step has already/,
  ],
  ['a lost one', { insert: [{ group: 0, episode: madeKey({ step: 9 }) }] }, /has not stored/],
  ['a group that is not', { insert: [{ group: 4, episode: first.key }] }, /into a group that there is not/],
  ['no wish', { wanted: -1 }, /wants no number of groups/],
  ['no choice', { choice: () => ({ inLoss: 1 }) }, /made a choice that is none/],
  [
    'a loss without a baseline',
    { choice: () => ({ ...learn, inBaseline: false }) },
    /only compared episodes have credit/,
  ],
  ['a weight unannounced', { choice: () => ({ ...learn, weight: 2 }) }, /weighs: true/],
  ['a weight below 0', { choice: () => ({ ...learn, weight: -1 }) }, /gave a weight that is none/],
] as const)('%s is refused, by the name of the curation', async (_, chosen, message) => {
  const wrong = chooses('wrong', () => chosen as unknown as Chosen);
  const result = curated([groupOf(0, 1, 0)], wrong);
  await expect(result).rejects.toThrow('Curation "wrong"');
  await expect(result).rejects.toThrow(message);
});

test('code that throws is told by its name', async () => {
  const throws = chooses('throws', () => {
    throw new Error('out of ideas');
  });
  await expect(curated([madeGroup(playedEpisode(0, [{}]))], throws)).rejects.toThrow(
    'Curation "throws" threw an error. Seen: out of ideas',
  );
});
