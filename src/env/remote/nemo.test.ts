import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { World } from '../world.ts';
import { connectNemo } from './nemo.ts';
import { readNemoRows } from './nemo-data.ts';
import { closeServers, httpServer, play, type Reply, type Seen, sendJson } from './servers.test-helper.ts';

afterEach(closeServers);
let folder: string;
let data: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-nemo-'));
  data = join(folder, 'tasks.jsonl');
  const rows = Array.from({ length: 12 }, (_, id) => ({
    id,
    truth: id * 2,
    responses_create_params: {
      input: [
        { role: 'developer', content: 'Be short.' },
        { role: 'user', content: [{ type: 'input_text', text: `Double ${id}.` }] },
      ],
      tools: [
        {
          type: 'function',
          name: 'add',
          description: 'Adds.',
          strict: true,
          parameters: {
            type: 'object',
            properties: { a: { type: 'integer' }, b: { type: 'integer' } },
            required: ['a', 'b'],
            additionalProperties: false,
          },
        },
      ],
    },
  }));
  writeFileSync(data, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Verification {
  readonly truth: number;
  readonly response: {
    readonly output: readonly { readonly content?: readonly { readonly text: string }[] }[];
  };
}

/** A resources server that knows its sessions by a cookie, which it changes once. */
const doubling: Reply = ({ path, body, headers }, response) => {
  if (path === '/') return sendJson(response, {}, 404);
  if (path === '/seed_session') {
    return sendJson(response, {}, 200, { 'set-cookie': ['session=one; Path=/; HttpOnly', 'side=1'] });
  }
  if (path === '/add') {
    if (headers.cookie !== 'session=one; side=1') return sendJson(response, 'no session', 401);
    const { a, b } = body as { a: number; b: number };
    if (a > 100) return sendJson(response, { error: 'too large' }, 400);
    if (a < 0) return sendJson(response, 'broken', 500);
    return sendJson(response, a + b, 200, { 'set-cookie': 'session=two' });
  }
  const { truth, response: answer, ...rest } = body as Verification;
  const last = answer.output.at(-1)?.content?.[0]?.text;
  sendJson(response, { ...rest, reward: Number(last) === truth ? 1 : 0, reward_components: { exact: 1 } });
};

async function nemo(reply: Reply = doubling, more: object = {}): Promise<{ world: World; seen: Seen[] }> {
  const { url, seen } = await httpServer(reply);
  const factory = await connectNemo('nemo', url, data);
  return { world: factory.create(factory.options.parse({ timeoutMs: 2000, ...more })), seen };
}

const call = (a: number, b: number): string =>
  `<tool_call>{"name":"add","arguments":{"a":${a},"b":${b}}}</tool_call>`;

describe('an episode', () => {
  test('tools are routes, the cookie is the session, and the answer is verified', async () => {
    const { world, seen } = await nemo();
    expect([world.tasks('train').size, world.tasks('validation').size, world.tasks('test').size]).toEqual([
      8, 2, 2,
    ]);
    const episode = await play(world, [call(2, 2), '4']);
    expect(episode).toMatchObject({ stop: 'done', success: { agent: true }, outcome: { agent: 1 } });
    const [opening, second] = episode.calls;
    expect(opening!.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(opening!.messages[0]!.content).toMatch(/^You can call these tools:\n(.|\n)*\n\nBe short\.$/);
    expect(second!.messages).toMatchObject([{ role: 'tool', content: '4' }]);
    expect(episode.transitions[1]!.notes).toEqual({ info: { reward_components: { exact: 1 } } });
    expect(seen.map(({ path }) => path)).toEqual(['/', '/seed_session', '/add', '/verify']);
    expect(seen.at(-1)!.headers.cookie).toBe('session=two; side=1');
    expect(seen.at(-1)!.body).toMatchObject({
      id: 2,
      truth: 4,
      response: {
        object: 'response',
        output: [
          { type: 'function_call', name: 'add', arguments: '{"a":2,"b":2}' },
          { type: 'function_call_output', output: '4' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '4' }] },
        ],
      },
    });
  });

  test('what a tool refuses is for the agent to read; a call that cannot be read reaches no route', async () => {
    const { world, seen } = await nemo();
    const episode = await play(world, [call(101, 1), '<tool_call>{"name":"ad"}</tool_call>', '5']);
    expect(episode).toMatchObject({ stop: 'done', success: { agent: false }, outcome: { agent: 0 } });
    expect(episode.calls[1]!.messages[0]!.content).toContain('too large');
    expect(episode.calls[2]!.messages[0]!.content).toContain('Did you mean "add"?');
    expect(episode.transitions.map(({ valid }) => valid)).toEqual([true, false, true]);
    expect(seen.filter(({ path }) => path === '/add')).toHaveLength(1);
  });

  test('what was done by the last turn is verified', async () => {
    const { world } = await nemo(doubling, { maxTurns: 2 });
    expect(await play(world, [call(2, 2)])).toMatchObject({ stop: 'done', outcome: { agent: 0 } });
  });
});

describe('failures have their origin', () => {
  test('a tool that breaks down, and a verifier that says no number or that its number means nothing', async () => {
    const { world } = await nemo();
    expect(await play(world, [call(-1, 1)])).toMatchObject({ stop: 'failed:tool', transitions: [] });
    const mute = await nemo((request, response) =>
      request.path === '/verify' ? sendJson(response, { reward: 'high' }) : doubling(request, response),
    );
    expect(await play(mute.world, ['4'])).toMatchObject({ stop: 'failed:grader' });
    const lost = await nemo(({ path }, response) =>
      sendJson(
        response,
        path === '/verify' ? { reward: 0, mask_sample: true, failure_reason: 'judge away' } : {},
      ),
    );
    const masked = await play(lost.world, ['4']);
    expect(masked).toMatchObject({ stop: 'failed:grader', transitions: [] });
    expect(masked.failure).toContain('judge away');
    const closed = await nemo((_, response) => sendJson(response, 'down', 503));
    expect(await play(closed.world, ['4'])).toMatchObject({ stop: 'failed:environment' });
  });
});

describe('the data', () => {
  test('a file that is missing, broken, or not named', () => {
    writeFileSync(join(folder, 'bad.jsonl'), '{"responses_create_params":{"input":"hi"}}\n{"x":1}\n');
    const message = (path: string): string => {
      try {
        readNemoRows(path);
        return 'read';
      } catch (error) {
        return (error as Error).message.replaceAll(folder, '');
      }
    };
    expect(['', join(folder, 'none'), join(folder, 'bad.jsonl')].map(message)).toMatchInlineSnapshot(`
      [
        "NeMo Gym serves no tasks: they are in a file of JSON lines. Seen: no file. Name it: --set environment.data=FILE, or nemo:http://host:port#FILE.",
        "The tasks of NeMo Gym cannot be read. Seen: /none.",
        "A line of the NeMo Gym tasks cannot be used: Invalid input: expected object, received undefined at "responses_create_params". Seen: /bad.jsonl, line 2.",
      ]
    `);
  });

  const example = join(
    import.meta.dirname,
    '../../../../shared/data/nemo-workplace-assistant/data/example.jsonl',
  );
  test.skipIf(!existsSync(example))(
    'the example rows of a real resources server (shared/data) are read',
    () => {
      const rows = readNemoRows(example);
      expect(rows.length).toBeGreaterThan(3);
      expect(rows[0]!.tools.length).toBeGreaterThan(10);
      expect(rows[0]!.messages.at(-1)!.role).toBe('user');
    },
  );
});
