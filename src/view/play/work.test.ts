/** What is done with recorded episodes: states are drawn again, turns are measured, tokens are scored. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../run/version.ts';
import { memberAt } from '../server/episode.ts';
import { Groups } from '../server/groups.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import { filesOf, makeViewRuns } from '../testing/view-runs.ts';
import { measureEpisode } from './measure-episode.ts';
import type { PlayEvent, PlayRequest } from './messages.ts';
import { scoreEpisode } from './score-episode.ts';
import { showStates } from './show-states.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-work-'));
beforeAll(() => makeViewRuns(root), 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const place = { place: '3', group: 0, member: 0, turns: 0 };
type Perform = typeof showStates;

async function perform(work: Perform, given: Partial<PlayRequest> & Pick<Required<PlayRequest>, 'from'>) {
  const events: PlayEvent[] = [];
  await work({
    root,
    request: { run: 'lake', split: 'train', task: 0, attempt: 0, ...given },
    tell: (event) => events.push(event),
    signal: new AbortController().signal,
  });
  expect(events.at(-1)?.kind).toBe('done');
  return events;
}

const episode = async (at: { place: string; group: number; label?: string }) =>
  memberAt(
    await new Groups().read(new RunsFolder({ root, version }).find('lake'), at.place, at.group, at.label),
    0,
  );

test('the states of an episode are those in which it acted, and the one after it', async () => {
  const { transitions } = await episode(place);
  const events = await perform(showStates, { from: place });
  const states = events.filter((event) => event.kind === 'state');
  expect(states.map(({ turn }) => turn)).toEqual([...transitions.keys(), transitions.length]);
  expect(states.every(({ picture }) => picture !== undefined && picture.length > 8)).toBe(true);
  for (const [turn, { action, valid }] of transitions.entries()) {
    if (valid) expect(states[turn]!.actions).toContain(action);
  }
  const evaluated = { ...place, place: 'evaluation-2', label: 'greedy' };
  expect(await perform(showStates, { from: evaluated })).toHaveLength(
    (await episode(evaluated)).transitions.length + 2,
  );
});

test('the turns of an episode are measured, alike each time, and nothing is written', async () => {
  const before = filesOf(join(root, 'lake'));
  const { transitions } = await episode(place);
  const measure = (given: object = {}) =>
    perform(measureEpisode, { from: place, continuations: 8, ...given });
  const events = await measure();
  const values = events.filter((event) => event.kind === 'measured');
  expect(values.map(({ turn, of, played }) => [turn, of, played])).toEqual(
    transitions.map((_, turn) => [turn, transitions.length, 8]),
  );
  for (const { roles } of values) {
    const { success, interval, return: outcome } = roles.agent!;
    expect(success * 8).toBeCloseTo(Math.round(success * 8), 9);
    expect(interval[0]).toBeLessThanOrEqual(success);
    expect(interval[1]).toBeGreaterThanOrEqual(success);
    expect(outcome).toBeTypeOf('number');
  }
  expect(await measure()).toEqual(events);
  expect(filesOf(join(root, 'lake'))).toEqual(before);
}, 60_000);

test('a policy that played the episode is as sure of its tokens as the entropies say', async () => {
  // The weights of checkpoint 3 played the evaluation after step 3.
  for (let group = 0; group < 6; group++) {
    const from = { ...place, place: 'evaluation-3', group, label: 'sampled' };
    const events = await perform(scoreEpisode, { from, checkpoint: 3 });
    const scored = events.filter((event) => event.kind === 'entropies');
    const { calls } = await episode(from);
    expect(scored.map(({ call }) => call)).toEqual(calls.map(({ id }) => id));
    for (const { call, entropies } of scored) {
      const { logprobs } = calls.find(({ id }) => id === call)!;
      expect(entropies).toHaveLength(logprobs.length);
      for (const [token, entropy] of entropies.entries()) {
        expect(entropy).toBeGreaterThanOrEqual(0);
        if (entropy! < 0.005) expect(logprobs[token]).toBeGreaterThan(-0.1);
      }
    }
  }
}, 60_000);

test('an episode that goes elsewhere when it is played again is refused', async () => {
  // As if the environment had changed since: its ice is slippery now.
  const changed = join(root, 'changed');
  cpSync(join(root, 'lake'), changed, { recursive: true });
  const path = join(changed, 'config.json');
  const file = JSON.parse(readFileSync(path, 'utf8')) as { config: { environment: object } };
  file.config.environment = { ...file.config.environment, slip: 1 };
  writeFileSync(path, JSON.stringify(file));
  const groups = await Promise.all([0, 1, 2, 3, 4, 5].map((group) => episode({ place: '3', group })));
  const group = groups.findIndex(({ transitions }) => transitions.length > 3);
  for (const work of [showStates, measureEpisode]) {
    const request = {
      run: 'changed',
      split: 'train',
      task: 0,
      attempt: 0,
      from: { ...place, group },
    } as const;
    const given = { root, request, tell: () => {}, signal: new AbortController().signal };
    await expect(work(given)).rejects.toMatchObject({ code: 'play-differs' });
  }
});
