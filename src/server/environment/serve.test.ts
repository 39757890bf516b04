import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { user } from '../../core/messages.ts';
import { tagProtocol } from '../../env/tag-protocol.ts';
import type { World } from '../../env/world.ts';
import { serveEnvironment } from './serve.ts';
import { closeServers, codeOf, costly, counter, hanging, open, post, serve } from './server.test-helper.ts';

afterEach(closeServers);

describe('our own protocol', () => {
  test('an episode, from its opening to its end', async () => {
    const { url } = await serve();
    const created = await post(`${url}/v1/sessions`, { index: 0, seed: 1 });
    expect(created).toMatchObject({
      status: 201,
      body: { step: 0, leaseMs: 300_000, view: { toMove: 'agent', messages: { agent: [user('at 0')] } } },
    });
    const path = `${url}/v1/sessions/${created.body.session}`;
    const replies = [];
    for (const step of [0, 1, 2]) replies.push((await post(`${path}/step`, { step, action: 'up' })).body);
    expect(replies.map(({ done, rewards }) => [done, rewards.agent])).toEqual([
      [false, 0],
      [false, 0],
      [true, 1],
    ]);
    expect(replies[2]).toMatchObject({ success: { agent: true }, view: { toMove: null } });
    expect(codeOf(await post(`${path}/step`, { step: 3, action: 'up' }))).toBe('409 episode-over');
    expect((await fetch(path, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(path, { method: 'DELETE' })).status).toBe(404);
  });

  test('a step is taken once, however often it is asked for', async () => {
    const { url } = await serve();
    const path = `${url}/v1/sessions/${await open(url)}/step`;
    const first = await post(path, { step: 0, action: 'up' });
    expect(await post(path, { step: 0, action: 'up' })).toEqual(first);
    expect(codeOf(await post(path, { step: 0, action: 'down' }))).toBe('409 step-conflict');
    expect(codeOf(await post(path, { step: 2, action: 'up' }))).toBe('409 step-out-of-order');
    expect((await post(path, { step: 1, action: 'up' })).body.view.anchor).toBe('{"at":2}');
    expect(codeOf(await post(path, { step: 0, action: 'up' }))).toBe('409 step-out-of-order');
    const [one, two] = await Promise.all([1, 2].map(() => post(path, { step: 2, action: 'up' })));
    expect(one).toEqual(two);
    expect(one!.body.done).toBe(true);
  });

  test('a session is opened once for each key', async () => {
    const { url, openSessions } = await serve();
    const key = { 'idempotency-key': 'mine' };
    const first = await post(`${url}/v1/sessions`, { index: 0, seed: 1 }, key);
    const second = await post(`${url}/v1/sessions`, { index: 0, seed: 1 }, key);
    expect(second.body.session).toBe(first.body.session);
    expect(openSessions()).toBe(1);
    expect(codeOf(await post(`${url}/v1/sessions`, { index: 1 }, key))).toBe('409 idempotency-conflict');
    await fetch(`${url}/v1/sessions/${first.body.session}`, { method: 'DELETE' });
    const third = await post(`${url}/v1/sessions`, { index: 1 }, key);
    expect(third.body.session).not.toBe(first.body.session);
  });

  test('sessions go on from a snapshot, with the same chance or another, until it is given back', async () => {
    const { url, metrics } = await serve();
    const id = await open(url);
    await post(`${url}/v1/sessions/${id}/step`, { step: 0, action: 'up' });
    const key = { 'idempotency-key': 'mine' };
    const held = await post(`${url}/v1/sessions/${id}/snapshot`, {}, key);
    expect(held).toMatchObject({ status: 201, body: { cost: 'free', leaseMs: 300_000 } });
    expect(await post(`${url}/v1/sessions/${id}/snapshot`, {}, key)).toEqual(held);
    expect(metrics()).toContain('turnwise_env_snapshots_held{environment="counter"} 1');
    const path = `${url}/v1/snapshots/${held.body.snapshot}`;
    const twin = await post(`${path}/sessions`, {});
    expect(twin).toMatchObject({ status: 201, body: { step: 1, view: { anchor: '{"at":1}' } } });
    const other = await post(`${path}/sessions`, { chance: [1, 2, 3, 4] });
    const [own, same, another] = await Promise.all(
      [id, twin.body.session, other.body.session].map((session) =>
        post(`${url}/v1/sessions/${session}/step`, { step: 1, action: 'up' }),
      ),
    );
    expect(same).toEqual(own);
    expect(another!.body.view.anchor).toBe(own!.body.view.anchor);
    expect(another!.body.view.messages).not.toEqual(own!.body.view.messages);
    expect((await fetch(path, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(path, { method: 'DELETE' })).status).toBe(404);
    expect(codeOf(await post(`${path}/sessions`, {}))).toBe('404 snapshot-unknown');
    expect(metrics()).toContain('turnwise_env_snapshots_held{environment="counter"} 0');
  });

  test('a session is led along the path of another, stretch by stretch', async () => {
    const { url } = await serve();
    const chance = { episode: [1, 2, 3, 4] };
    const far = [{ actions: ['up'] }, { chance: [5, 6, 7, 8], actions: ['stay', 'up'] }];
    const led = await post(`${url}/v1/sessions`, { index: 0, chance, path: far });
    expect(led).toMatchObject({ status: 201, body: { step: 3, view: { anchor: '{"at":2}' } } });
    const near = await post(`${url}/v1/sessions`, { index: 0, chance, path: far.slice(0, 1) });
    const held = await post(`${url}/v1/sessions/${near.body.session}/snapshot`, {});
    const other = await post(`${url}/v1/snapshots/${held.body.snapshot}/sessions`, { chance: [5, 6, 7, 8] });
    const steps = [];
    for (const [step, action] of [
      [1, 'stay'],
      [2, 'up'],
    ] as const) {
      steps.push((await post(`${url}/v1/sessions/${other.body.session}/step`, { step, action })).body);
    }
    expect(steps[1]!.view).toEqual(led.body.view);
    const over = { index: 0, path: [{ actions: ['up', 'up', 'up', 'up'] }] };
    expect(codeOf(await post(`${url}/v1/sessions`, over))).toBe('409 episode-over');
  });

  test('sessions without snapshots have none over the wire', async () => {
    const { url } = await serve({ world: hanging([]) });
    const answer = await post(`${url}/v1/sessions/${await open(url)}/snapshot`, {});
    expect(codeOf(answer)).toBe('501 snapshot-unsupported');
  });

  test('an environment that raises leaves its session where it was', async () => {
    const { url } = await serve();
    const path = `${url}/v1/sessions/${await open(url)}/step`;
    const failed = await post(path, { step: 0, action: 'fail' });
    expect(failed).toEqual({
      status: 500,
      body: { error: { code: 'environment-failed', message: 'asked to fail' } },
    });
    expect((await post(path, { step: 0, action: 'up' })).body.view.anchor).toBe('{"at":1}');
  });

  test('text is read by the environment’s own protocol', async () => {
    const { url } = await serve({ world: { ...counter, protocol: tagProtocol } });
    const path = `${url}/v1/sessions/${await open(url)}/step`;
    const bad = await post(path, { step: 0, text: 'up' });
    expect(bad.body).toMatchObject({ valid: false, view: { anchor: '{"at":0}' } });
    expect(bad.body.view.messages.agent?.[0]?.content).toContain('No action was found');
    expect((await post(path, { step: 1, text: 'so <action>up</action>' })).body.valid).toBe(true);
  });

  test('what cannot be used is refused with its own status', async () => {
    const { url } = await serve();
    const sessions = `${url}/v1/sessions`;
    expect(codeOf(await post(sessions, '{"index":'))).toBe('400 request-invalid');
    expect(codeOf(await post(sessions, { index: -1 }))).toBe('400 request-invalid');
    expect(codeOf(await post(sessions, { index: 0, sed: 1 }))).toBe('400 request-invalid');
    expect(codeOf(await post(sessions, { index: 5 }))).toBe('422 task-unknown');
    expect(codeOf(await post(sessions, { index: 0 }, { 'content-type': 'text/plain' }))).toBe(
      '415 request-type',
    );
    expect(codeOf(await post(sessions, `"${'x'.repeat(5e6)}"`))).toBe('413 request-too-large');
    expect(codeOf(await post(`${sessions}/none/step`, { step: 0, action: 'up' }))).toBe(
      '404 session-unknown',
    );
    expect(codeOf(await post(`${url}/v2/sessions`, {}))).toBe('404 route-unknown');
    expect(codeOf(await post(`${sessions}/${await open(url)}/step`, { step: 0 }))).toBe(
      '400 request-invalid',
    );
  });
});

describe('room and time', () => {
  test('there is room for so many sessions, and a closed one makes room', async () => {
    const { url, metrics } = await serve({ limits: { maxSessions: 2 } });
    const [first] = [await open(url), await open(url)];
    const refused = await fetch(`${url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"index":0}',
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    await fetch(`${url}/v1/sessions/${first}`, { method: 'DELETE' });
    expect(await open(url)).toBeTruthy();
    expect(metrics()).toContain('turnwise_env_sessions_refused_total{environment="counter"} 1');
  });

  test('no session outlives its lease; one that is used does', async () => {
    const { url, openSessions, metrics } = await serve({ limits: { leaseMs: 400 } });
    const [idle, used] = [await open(url, { leaseMs: 100 }), await open(url)];
    for (let step = 0; step < 6; step++) {
      await sleep(100);
      await post(`${url}/v1/sessions/${used}/step`, { step, action: 'stay' });
    }
    expect(openSessions()).toBe(1);
    expect(codeOf(await post(`${url}/v1/sessions/${idle}/step`, { step: 0, action: 'up' }))).toBe(
      '404 session-unknown',
    );
    await sleep(700);
    expect(openSessions()).toBe(0);
    expect(metrics()).toContain('turnwise_env_sessions_reclaimed_total{environment="counter"} 2');
  });

  test('snapshots that hold a process take places of sessions, and none outlives its lease', async () => {
    const given: string[] = [];
    const { url, metrics } = await serve({
      world: costly(given),
      limits: { maxSessions: 2, leaseMs: 200 },
    });
    const id = await open(url);
    const held = await post(`${url}/v1/sessions/${id}/snapshot`, {});
    expect(held.body.cost).toBe('process');
    expect(codeOf(await post(`${url}/v1/sessions/${id}/snapshot`, {}))).toBe('503 session-limit');
    expect(codeOf(await post(`${url}/v1/snapshots/${held.body.snapshot}/sessions`, {}))).toBe(
      '503 session-limit',
    );
    expect(given).toEqual(['given back']);
    await sleep(600);
    expect(given).toEqual(['given back', 'given back']);
    expect(metrics()).toContain('turnwise_env_snapshots_held{environment="counter"} 0');
  });

  test('a session that opens when its client is gone is closed at once', async () => {
    let began = (): void => {};
    const beginning = new Promise<void>((resolve) => {
      began = resolve;
    });
    const slow: World = {
      ...counter,
      open: async (...how) => {
        began();
        await sleep(100);
        return counter.open(...how);
      },
    };
    const { url, openSessions } = await serve({ world: slow });
    const client = new AbortController();
    const asked = fetch(`${url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"index":0}',
      signal: client.signal,
    });
    await beginning;
    client.abort();
    await expect(asked).rejects.toThrow();
    expect(openSessions()).toBe(1);
    await expect.poll(openSessions).toBe(0);
  });

  test('a step that never ends is given up, told to stop, and its session closed', async () => {
    const told: string[] = [];
    const { url, openSessions } = await serve({
      world: hanging(told),
      limits: { stepTimeoutMs: 100 },
    });
    const path = `${url}/v1/sessions/${await open(url)}/step`;
    expect(codeOf(await post(path, { step: 0, action: 'up' }))).toBe('504 environment-timeout');
    expect(told).toEqual(['stopped', 'closed']);
    expect(openSessions()).toBe(0);
  });

  test('a scripted player that never answers is given up, and its session closed', async () => {
    const world = { ...counter, script: () => new Promise<string>(() => {}) };
    const { url, openSessions } = await serve({ world, limits: { stepTimeoutMs: 100 } });
    const asked = { player: 'expert', chance: [1, 2, 3, 4] };
    const answer = await post(`${url}/v1/sessions/${await open(url)}/script`, asked);
    expect([codeOf(answer), openSessions()]).toEqual(['504 environment-timeout', 0]);
  });

  test('closing ends what is open', async () => {
    const told: string[] = [];
    const { url, close } = await serve({ world: hanging(told) });
    const waiting = post(`${url}/v1/sessions/${await open(url)}/step`, { step: 0, action: 'up' });
    const refused = waiting.then(codeOf, () => 'broken off');
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    await sleep(50);
    await close();
    expect(told).toEqual(['stopped', 'closed']);
    expect(await refused).toBe('404 session-unknown');
  });

  test('a port that is taken', async () => {
    const { port } = await serve();
    const failure = serveEnvironment({ world: counter, port }).catch((error: Error) => {
      throw new Error(error.message.replace(String(port), 'PORT'));
    });
    await expect(failure).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Error: The server cannot listen on 127.0.0.1:PORT. Seen: EADDRINUSE. Choose another --port or --host.]`,
    );
  });
});
