/** The support desk on the client that a clone does not have: the same desk, the same customers, the same promises. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent as anthropic } from '../../examples/agents/support-desk/anthropic.ts';
import type { Agent } from '../../src/env/agent.ts';
import { Gateway } from '../../src/server/gateway/gateway.ts';
import { forgives, holds } from '../desk-episodes.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

test('settles requests, and loses no episode to a mistake of the policy', { timeout: 120_000 }, async () => {
  const desk = anthropic as unknown as Agent;
  await holds(desk, gateway);
  const ends = await forgives(desk, gateway);
  expect(ends['an unknown tool']).toBe('done 1');
  expect(ends['a filing of another form']).toBe('done 0');
});
