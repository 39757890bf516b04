/** The routes of the viewer, with runs that this test makes. */

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { creditMethods } from '../../credit/methods.ts';
import { creditReport } from '../../credit/report/report.ts';
import { storedRollouts } from '../../credit/report/stored-rollouts.ts';
import { version } from '../../run/version.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import { splitEvents } from '../page/data/server-events.ts';
import { decodeSeries } from '../series.ts';
import type {
  CreditAnswer,
  GroupOutline,
  MethodRow,
  RunList,
  RunOverview,
  Setting,
  ShownEpisode,
  StepEpisodes,
} from '../shapes.ts';
import { filesOf, hostileText, longText, makeViewRuns, markup } from '../testing/view-runs.ts';
import { listenView, type ViewServer } from './listen.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-view-'));
let server: ViewServer;

beforeAll(async () => {
  await makeViewRuns(root);
  server = await listenView({ root, version }, 0);
}, 120_000);
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

const authorized = (): Record<string, string> => ({ authorization: `Bearer ${server.key}` });
const get = (path: string): Promise<Response> => fetch(server.origin + path, { headers: authorized() });
async function json<T>(path: string): Promise<T> {
  const response = await get(path);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as T;
}

/** A request with exactly these headers, which `fetch` would not send. */
function statusOf(path: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(`${server.origin}${path}`, { method, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode!));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

describe('who may read', () => {
  test('nothing that holds data without the key; the page itself holds none', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': `${server.key}x` }]) {
      for (const path of ['/api/runs', '/api/runs/lake', '/api/live', '/api/unknown']) {
        expect([path, await statusOf(path, headers)]).toEqual([path, 401]);
      }
    }
    const refused = await (await fetch(`${server.origin}/api/runs`)).text();
    expect(refused).toContain('Open the address that the terminal printed');
    const page = await fetch(`${server.origin}/runs/lake`);
    expect(await page.text()).toContain('<div id="page">');
  });

  test('no other name, no other site, no other body', async () => {
    const { host } = new URL(server.origin);
    const key = authorized();
    expect(await statusOf('/api/runs', { ...key, host })).toBe(200);
    expect(await statusOf('/api/runs', { ...key, host: 'evil.example' })).toBe(403);
    expect(await statusOf('/', { host: `evil.example:${new URL(server.origin).port}` })).toBe(403);
    expect(await statusOf('/api/runs', { ...key, host, origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf('/api/runs', { ...key, host, 'sec-fetch-site': 'cross-site' })).toBe(403);
    const body = '{"run":"lake","place":"1","group":0}';
    expect(await statusOf('/api/credit', { host, 'content-type': 'text/plain' }, body)).toBe(415);
    expect(
      await statusOf(
        '/api/credit',
        { ...key, host, 'content-type': 'application/json' },
        'x'.repeat(300_000),
      ),
    ).toBe(413);
  });

  test('every answer says what a browser may do with it', async () => {
    for (const path of ['/', '/main.js', '/main.css', '/api/runs', '/api/none']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'/,
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
    expect((await get('/api/runs')).headers.get('cache-control')).toBe('no-store');
  });

  test('no path leads out of the folder', async () => {
    for (const name of ['..', '.', '%2e%2e', '..%2f..%2fetc', 'lake%2f..%2flake', 'lake%00', '__proto__']) {
      const response = await get(`/api/runs/${name}/config`);
      expect([name, response.status === 404 || response.status === 200]).toEqual([name, true]);
      if (response.status === 200) expect(response.headers.get('content-type')).toMatch('text/html');
    }
    expect((await get('/api/runs/lake/places/..%2f..%2fconfig')).status).toBe(404);
  });
});

test('the list has every run with its state, and answers "unchanged" while nothing changes', async () => {
  const response = await get('/api/runs');
  const { runs } = (await response.json()) as RunList;
  expect(Object.fromEntries(runs.map(({ name, state }) => [name, state]))).toEqual({
    lake: 'finished',
    bare: 'finished',
    damaged: 'finished',
    cut: 'stopped',
    hostile: 'stopped',
    broken: 'unreadable',
  });
  expect(runs.find(({ name }) => name === 'broken')?.problem?.code).toBe('config-corrupt');
  const mark = response.headers.get('etag')!;
  const again = await fetch(`${server.origin}/api/runs`, {
    headers: { ...authorized(), 'if-none-match': mark },
  });
  expect(again.status).toBe(304);
});

test('metrics are those of the log, and each point of a coarser level stands for its bucket', async () => {
  const overview = await json<RunOverview>('/api/runs/lake');
  expect(overview).toMatchObject({
    stored: [1, 2, 3],
    state: 'finished',
    failed: {},
    history: { step: 3, steps: 3 },
  });
  const read = async (pixels: number) =>
    decodeSeries(
      await (await get(`/api/runs/lake/metrics?names=reward/success,none&px=${pixels}`)).arrayBuffer(),
    );
  const fine = await read(1200);
  expect(fine.bucket).toBe(1);
  expect([...fine.axes.step]).toEqual([1, 2, 3]);
  expect(fine.series['reward/success']!.mean.at(-1)).toBeCloseTo(overview.latest['reward/success']!, 6);
  expect(fine.series.none!.mean.every(Number.isNaN)).toBe(true);
  const coarse = await read(1);
  expect([...coarse.axes.step]).toEqual([3]);
  const values = [...fine.series['reward/success']!.mean];
  expect(coarse.series['reward/success']!.min[0]).toBe(Math.min(...values));
  expect(coarse.series['reward/success']!.mean[0]).toBeCloseTo(values.reduce((a, b) => a + b) / 3, 6);
});

test('settings that differ from what they would be are marked', async () => {
  const settings = await json<Setting[]>('/api/runs/lake/config');
  const differing = settings.filter(({ differs }) => differs).map(({ key }) => key);
  expect(differing).toEqual(expect.arrayContaining(['steps', 'model.width', 'rollout.tasks']));
  expect(differing).not.toContain('credit.method');
  expect(settings.find(({ key }) => key === 'steps')).toMatchObject({ value: 3, usual: 120 });
});

test('an episode has the pieces of its tokens, and turns with their advantages', async () => {
  const { members } = await json<StepEpisodes>('/api/runs/lake/places/3');
  expect(members).toHaveLength(24);
  const outline = await json<GroupOutline>('/api/runs/lake/places/3/groups/0');
  expect(outline.members).toHaveLength(4);
  const episode = await json<ShownEpisode>('/api/runs/lake/places/3/groups/0/members/1');
  expect(episode.turns).toHaveLength(outline.members[1]!.turns.length);
  for (const call of episode.calls) {
    expect(call.pieces!.join(episode.joint)).toBe(call.text.text);
    expect(call.logprobs).toHaveLength(call.ids.length);
  }
  expect((await get('/api/runs/lake/places/3/groups/0/members/9')).status).toBe(404);
  expect((await get('/api/runs/lake/places/77/groups/0')).status).toBe(404);
  const greedy = await json<GroupOutline>('/api/runs/lake/places/evaluation-3/groups/0?label=greedy');
  expect(greedy.label).toBe('greedy');
});

test('credit of every method is what the command line computes', async () => {
  const methods = await json<MethodRow[]>('/api/runs/lake/places/3/groups/1/methods');
  const stored = storedRollouts(readEpisodeFile(join(root, 'lake/rollouts/3.jsonl.gz'))!.groups);
  let computed = 0;
  for (const { name } of creditMethods) {
    const response = await fetch(`${server.origin}/api/credit`, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': 'application/json' },
      body: JSON.stringify({ run: 'lake', place: '3', group: 1, method: name }),
    });
    const row = methods.find((one) => one.name === name)!;
    if (row.problem !== undefined) {
      expect([name, response.status]).toEqual([name, 422]);
      continue;
    }
    computed++;
    const answer = (await response.json()) as CreditAnswer;
    const expected = creditReport(name, {}, stored).trajectories.filter(({ groupId }) => groupId === '3/1');
    expect(answer.members.map(({ turns }) => turns.map(({ advantage }) => advantage))).toEqual(
      expected.map(({ turns }) => turns.map(({ advantage }) => advantage)),
    );
  }
  expect(computed).toBeGreaterThan(12);
  const asTrained = await fetch(`${server.origin}/api/credit`, {
    method: 'POST',
    headers: { ...authorized(), 'content-type': 'application/json' },
    body: JSON.stringify({ run: 'lake', place: '3', group: 1 }),
  });
  const outline = await json<GroupOutline>('/api/runs/lake/places/3/groups/1');
  expect(
    ((await asTrained.json()) as CreditAnswer).members.map(({ turns }) =>
      turns.map(({ advantage }) => advantage),
    ),
  ).toEqual(outline.members.map(({ turns }) => turns.map(({ advantage }) => advantage)));
});

test('runs that were cut, damaged or lost their index open, and nothing is written into them', async () => {
  const before = filesOf(root);
  for (const name of ['cut', 'bare', 'damaged']) {
    const overview = await json<RunOverview>(`/api/runs/${name}`);
    expect([name, overview.stored.slice(0, 2)]).toEqual([name, [1, 2]]);
    const { members } = await json<StepEpisodes>(`/api/runs/${name}/places/2`);
    expect([name, members.length]).toEqual([name, 24]);
    await json(`/api/runs/${name}/places/2/groups/5/members/0`);
    await json(`/api/runs/${name}/log`);
  }
  expect((await json<RunOverview>('/api/runs/damaged')).damaged).toBe(1);
  expect((await get('/api/runs/broken')).status).toBe(422);
  expect(filesOf(root)).toEqual(before);
});

test('long texts come in pieces, hostile ones as they are', async () => {
  const base = '/api/runs/hostile/places/1/groups/0/members/0';
  const episode = await json<ShownEpisode>(base);
  const [system, observation] = episode.calls[0]!.messages;
  expect(system!.content.text).toBe(JSON.parse(JSON.stringify(hostileText)));
  expect(observation!.content).toMatchObject({ whole: longText.length });
  expect(observation!.content.text.length).toBeLessThanOrEqual(4096);
  expect(longText.length).toBeGreaterThan(10_000_000);
  const part = await json<{ text: string; whole: number }>(`${base}/text?at=calls/0/messages/1&from=4096`);
  expect(part).toEqual({ text: longText.slice(4096, 4096 + 65_536), whole: longText.length });
  const { task, members } = await json<GroupOutline>('/api/runs/hostile/places/1/groups/0');
  expect(JSON.stringify(task)).toContain('img src=x');
  expect(members).toHaveLength(2);
  expect((await json<RunOverview>('/api/runs/hostile')).world).toBe(markup);
});

test('what is appended is told, and a connection that was cut goes on where it stood', async () => {
  const path = join(root, 'cut', 'events.jsonl');
  const { offset } = await json<RunOverview>('/api/runs/cut');
  const told = async (after: number, append: () => void, wanted: number) => {
    const stop = new AbortController();
    const response = await fetch(`${server.origin}/api/live?run=cut&after=${after}`, {
      headers: authorized(),
      signal: stop.signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    append();
    let text = '';
    const events = [];
    while (events.length < wanted) {
      const { value } = await reader.read();
      const split = splitEvents(text + value);
      text = split.rest;
      events.push(...split.events.filter(({ event }) => event === 'event'));
    }
    stop.abort();
    return events;
  };
  const line = (message: string): string =>
    `${JSON.stringify({ type: 'warning', code: 'test', message, time: new Date().toISOString() })}\n`;
  const [first] = await told(offset, () => appendFileSync(path, `\n${line('first')}`), 1);
  expect(JSON.parse(first!.data)).toMatchObject({ message: 'first' });
  appendFileSync(path, line('second'));
  const rest = await told(Number(first!.id), () => appendFileSync(path, line('third')), 2);
  expect(rest.map(({ data }) => (JSON.parse(data) as { message: string }).message)).toEqual([
    'second',
    'third',
  ]);
});
