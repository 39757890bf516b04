import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../run/version.ts';
import { memberAt } from '../server/episode.ts';
import { Groups } from '../server/groups.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import { filesOf, makeViewRuns } from '../testing/view-runs.ts';
import type { PlayEvent, PlayMove, PlayRequest } from './messages.ts';
import { playEpisode } from './play-episode.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-play-'));
beforeAll(() => makeViewRuns(root), 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function play(request: Partial<PlayRequest>, moves: readonly PlayMove[]): Promise<PlayEvent[]> {
  const events: PlayEvent[] = [];
  const queue = [...moves];
  await playEpisode({
    root,
    request: { run: 'lake', split: 'test', task: 0, attempt: 0, ...request },
    tell: (event) => events.push(event),
    move: async () => queue.shift() ?? { kind: 'rest' },
    signal: new AbortController().signal,
  });
  return events;
}

const turns = (events: readonly PlayEvent[]) => events.filter((event) => event.kind === 'turn');

test('a checkpoint plays, says what was likely, and a person takes over', async () => {
  const before = filesOf(join(root, 'lake'));
  const events = await play({}, [{ kind: 'sample' }, { kind: 'type', text: 'up' }]);
  expect(events[0]).toMatchObject({ kind: 'open', world: 'frozen-lake', checkpoint: 3 });
  const [sampled, typed] = turns(events);
  expect(sampled).toMatchObject({ by: 'policy' });
  expect(sampled!.top![0]!).toHaveLength(5);
  const chances = sampled!.top![0]!.map(({ logprob }) => Math.exp(logprob!));
  expect(chances).toEqual([...chances].sort((a, b) => b - a));
  if (typed) expect(typed).toMatchObject({ by: 'person', text: 'up', ids: [] });
  expect(events.at(-1)).toMatchObject({ kind: 'end' });
  expect(filesOf(join(root, 'lake'))).toEqual(before);
});

test('a recorded episode is gone on with from where it was, by the same chance', async () => {
  const folder = new RunsFolder({ root, version });
  const read = await new Groups().read(folder.find('lake'), '3', 0);
  const { transitions } = memberAt(read, 0);
  const from = { place: '3', group: 0, member: 0, turns: transitions.length };
  const events = await play({ from }, []);
  expect(
    turns(events)
      .slice(0, transitions.length)
      .map(({ by, text }) => [by, text]),
  ).toEqual(transitions.map(({ action }) => ['record', action]));
  const half = await play({ from: { ...from, turns: 0 } }, [{ kind: 'type', text: transitions[0]!.action }]);
  const [, second] = half.filter((event) => event.kind === 'state');
  if (transitions.length > 1) expect(second).toMatchObject({ replayed: false, turn: 1 });
});
