/** A clock that is set, by a person, by the network or by a laptop that wakes up, ends no lease and no wait: these are measured by a clock that only runs. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { Rng } from '../src/core/rng.ts';
import { closeServers as closeStubs, httpServer, sendJson } from '../src/env/remote/servers.test-helper.ts';
import { connectTurnwise } from '../src/env/remote/turnwise.ts';
import { closeServers, codeOf, open, post, serve } from '../src/server/environment/server.test-helper.ts';

const HOUR_MS = 3_600_000;

afterEach(async () => {
  vi.useRealTimers();
  await closeServers();
  await closeStubs();
});

/** Sets the clock of the wall; timers go on as they are. */
function setClock(byMs: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + byMs });
}

test.each([HOUR_MS, -HOUR_MS])(
  'sessions and snapshots of an environment outlive a jump of %d ms',
  async (jump) => {
    const { url, openSessions } = await serve({ limits: { leaseMs: 60_000 } });
    const id = await open(url);
    const { snapshot } = (await post(`${url}/v1/sessions/${id}/snapshot`, {})).body;
    setClock(jump);
    expect(codeOf(await post(`${url}/v1/sessions/${id}/step`, { step: 0, action: 'up' }))).toBe('200 ok');
    expect(codeOf(await post(`${url}/v1/snapshots/${snapshot}/sessions`, {}))).toBe('201 ok');
    expect(openSessions()).toBe(2);
  },
);

test('a lease ends in time where the clock was set back', async () => {
  const { url, openSessions } = await serve({ limits: { leaseMs: 100 } });
  await open(url);
  setClock(-HOUR_MS);
  await vi.waitFor(() => expect(openSessions()).toBe(0), { timeout: 5000 });
});

test('a server without room is asked again after a jump', async () => {
  const description = {
    ...{ protocol: 1, name: 'x', description: 'x', roles: ['agent'], maxTurns: 5, action: { form: 'raw' } },
    ...{ tasks: { train: null, validation: 1, test: 1 }, scripts: false, settings: {}, maxSessions: 9 },
  };
  const view = { toMove: null, messages: { agent: [] }, anchor: '' };
  let asked = 0;
  const { url } = await httpServer(({ path }, response) => {
    if (path === '/v1/environment') return sendJson(response, description);
    if (++asked > 2) return sendJson(response, { session: 's', leaseMs: 1, step: 0, view }, 201);
    setClock(HOUR_MS);
    sendJson(response, { error: { code: 'session-limit', message: 'full' } }, 503);
  });
  const world = (await connectTurnwise('full', url)).create({ timeoutMs: 5000 });
  const task = world.tasks('train').at(0);
  await world.open(task, Rng.of(1), Rng.of(1));
  expect(asked).toBe(3);
});

test('no other source reckons with the clock of the wall than those whose times lie on the disk, and a law that sets it', () => {
  const root = join(import.meta.dirname, '..', 'src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?<!\.test|\.test-helper|\.d)\.ts$/.test(path),
  );
  expect(files.length).toBeGreaterThan(500);
  const reckoning = /[-+<>]=? ?Date\.now\(\)|Date\.now\(\) ?[-+<>]/;
  const found = files.filter((path) => reckoning.test(readFileSync(join(root, path), 'utf8')));
  expect(found.sort()).toEqual([
    'env/laws/other-clock.ts',
    'run/sinks/wandb/wandb.ts',
    'server/tinker/checkpoints.ts',
    'store/lock.ts',
  ]);
});
