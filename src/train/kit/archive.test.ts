import { describe, expect, test } from 'vitest';
import type { EpisodeKey, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import {
  madeCall,
  madeEpisode,
  madeKey,
  madeTransition,
  playedEpisode,
} from '../../core/testing/made-episodes.ts';
import type { ReadGroups } from '../../curation/insert.ts';
import { Archive } from './archive.ts';
import type { Kept } from './learn.ts';

const NOTHING: ReadGroups = async () => [];

/** Group 0 is a tree, group 1 a game of two. */
function groupsOf(step: number): Group[] {
  const key = (group: number, member: number) => ({ key: madeKey({ step, group, member }) });
  const root = playedEpisode(0, [{}, { reward: 1 }], key(0, 0));
  const branch = madeEpisode(1, [madeCall(1, [7], { parent: 0 })], [madeTransition(1, 2)], {
    ...key(0, 1),
    branchedFrom: { episode: root.key, transition: 0, calls: 1 },
  });
  const game = madeEpisode(
    0,
    [madeCall(0, 1, { role: 'first' }), madeCall(1, 2, { role: 'second' })],
    [madeTransition(0, 1, { role: 'first' }), madeTransition(1, -1, { role: 'second' })],
    key(1, 0),
  );
  return [
    { step, group: 0, members: [root, branch] },
    { step, group: 1, members: [game] },
  ];
}

const kept = (step: number, group: number, member: number, role = 'agent', advantage?: number): Kept => ({
  episode: madeKey({ step, group, member }),
  role,
  ...(advantage !== undefined && { advantage }),
});

/** What a run stored: whole groups, found by some of their members' keys, as a reader makes them anew. */
function store(groups: readonly Group[]) {
  const asked: string[][] = [];
  const read: ReadGroups = async (keys: readonly EpisodeKey[]) => {
    asked.push(keys.map(keyText));
    return structuredClone(
      groups.filter(({ members }) =>
        members.some(({ key }) => keys.some((wanted) => keyText(wanted) === keyText(key))),
      ),
    );
  };
  return { read, asked };
}

// The branch without its origin, and one side of a game, not in the order in which they were played.
const wanted = [kept(2, 1, 0, 'second'), kept(1, 0, 1, 'agent', 0.25), kept(2, 0, 0), kept(1, 0, 1)];

describe('what is recalled', () => {
  test('is the same from memory, from where it is stored, and from both, in the order of the wish', async () => {
    const [one, two] = [groupsOf(1), groupsOf(2)];
    const memory = new Archive(NOTHING);
    memory.add(one);
    memory.add(two);
    const remembered = await memory.recall(wanted);
    expect(remembered.map(({ id, role }) => [id, role])).toEqual([
      ['2/1/0/second', 'second'],
      ['1/0/1', 'agent'],
      ['2/0/0', 'agent'],
      ['1/0/1', 'agent'],
    ]);
    expect(remembered[1]).toMatchObject({ advantage: 0.25, sharedTurns: 1, parent: '1/0/0', outcome: 2 });
    expect(remembered[1]!.turns.map(({ calls }) => calls.map(({ ids }) => [...ids]))).toEqual([
      [[100]],
      [[7]],
    ]);
    expect(remembered.map(({ advantage }) => advantage)).toEqual([undefined, 0.25, undefined, undefined]);

    const stored = store([...one, ...two]);
    expect(await new Archive(stored.read).recall(wanted)).toEqual(remembered);
    expect(stored.asked).toEqual([wanted.map(({ episode }) => keyText(episode))]);

    const late = store([...one, ...two]);
    const both = new Archive(late.read);
    both.add(two);
    expect(await both.recall(wanted)).toEqual(remembered);
    expect(late.asked).toEqual([['1/0/1', '1/0/1']]);
    // What was read is remembered.
    await both.recall(wanted);
    expect(late.asked).toHaveLength(1);
  });

  test('is read again once it was forgotten, and the same then', async () => {
    const stored = store(groupsOf(1));
    const archive = new Archive(stored.read);
    archive.add(groupsOf(1));
    const before = await archive.recall([kept(1, 0, 1)]);
    archive.keepOnly([kept(1, 0, 0).episode]);
    expect(await archive.recall([kept(1, 0, 0)])).toHaveLength(1);
    expect(stored.asked).toEqual([]);
    expect(await archive.recall([kept(1, 0, 1)])).toEqual(before);
    expect(stored.asked).toEqual([['1/0/1']]);
  });

  test('must be somewhere', async () => {
    await expect(new Archive(NOTHING).recall([kept(4, 0, 0)])).rejects.toThrow(
      'Episode 4/0/0 is to be learned from again, but it is not stored',
    );
  });
});
