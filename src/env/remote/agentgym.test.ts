import { afterEach, describe, expect, test } from 'vitest';
import { system, user } from '../../core/messages.ts';
import type { World } from '../world.ts';
import { connectAgentGym } from './agentgym.ts';
import { closeServers, httpServer, play, type Seen, sendJson } from './servers.test-helper.ts';

afterEach(closeServers);

type Answers = Readonly<Record<string, (body: Record<string, unknown>, count: number) => unknown>>;

/** A server that answers as the real ones do: an error has status 200, an unknown route 404. */
async function gym(
  kind: string,
  answers: Answers,
  more: object = {},
): Promise<{ world: World; seen: Seen[] }> {
  const counts = new Map<string, number>();
  const { url, seen } = await httpServer(({ path, body }, response) => {
    if (path === '/') return sendJson(response, 'ok');
    const answer = answers[path];
    const count = counts.get(path) ?? 0;
    counts.set(path, count + 1);
    if (answer === undefined) return sendJson(response, { detail: 'Not Found' }, 404);
    sendJson(response, answer(body as Record<string, unknown>, count));
  });
  const factory = await connectAgentGym('gym', url, kind);
  return { world: factory.create(factory.options.parse({ timeoutMs: 2000, ...more })), seen };
}

const posts = (seen: readonly Seen[]): unknown[] => seen.slice(1).map(({ path, body }) => [path, body]);

describe('the dialect of `id`', () => {
  test('textcraft: create, reset, step, close', async () => {
    const { world, seen } = await gym('textcraft', {
      '/create': () => ({ id: 4, observation: 'old', done: false, reward: 0 }),
      '/reset': () => ({ id: 4, observation: 'Goal: craft a stick.', done: false, reward: 0 }),
      '/step': (_, count) => ({ observation: `step ${count}`, reward: count, done: count === 1 }),
      '/close': () => true,
    });
    const episode = await play(world, ['<action>get 1 wood</action>', 'I think <action>craft</action>']);
    expect(episode).toMatchObject({ stop: 'done', success: { agent: true }, outcome: { agent: 1 } });
    expect(episode.calls[0]!.messages).toEqual([
      system(world.protocol.instructions!),
      user('Goal: craft a stick.'),
    ]);
    expect(episode.calls[1]!.messages).toEqual([user('step 0')]);
    expect(posts(seen)).toEqual([
      ['/create', {}],
      ['/reset', { id: 4, data_idx: 0 }],
      ['/step', { id: 4, action: 'get 1 wood' }],
      ['/step', { id: 4, action: 'craft' }],
      ['/close', { id: 4 }],
    ]);
  });

  test('alfworld has no close: its session is reset and used again', async () => {
    const { world, seen } = await gym('alfworld', {
      '/create': (_, count) => ({ id: count }),
      '/reset': ({ id }) => ({ id, observation: 'a room', available_actions: ['look'], task_type: 'x' }),
      '/step': () => ({ observation: 'done', reward: 1, available_actions: [], done: true }),
    });
    for (const task of [{ index: 0 }, { index: 7 }]) await play(world, ['<action>look</action>'], task);
    expect(posts(seen)).toEqual([
      ['/create', {}],
      ['/reset', { world_type: 'Text', id: 0, game: 0 }],
      ['/step', { id: 0, action: 'look' }],
      ['/reset', { world_type: 'Text', id: 0, game: 7 }],
      ['/step', { id: 0, action: 'look' }],
    ]);
  });

  test('sciworld judges success by its score', async () => {
    const { world } = await gym('sciworld', {
      '/create': () => ({ id: 1 }),
      '/reset': () => ({ observation: 'lab', reward: 0, score: 0, done: false, deleted: false }),
      '/step': () => ({ observation: 'ok', reward: 60, score: 60, done: true }),
      '/close': () => true,
    });
    expect(await play(world, ['<action>focus</action>'])).toMatchObject({
      success: { agent: false },
      outcome: { agent: 60 },
    });
  });

  test('wordle is mounted under a prefix, and names its tasks by seed', async () => {
    const { world, seen } = await gym('wordle', {
      '/wordle/create': () => ({ id: 2 }),
      '/wordle/reset': () => ({ observation: '' }),
      '/wordle/step': () => ({ observation: 'ggggg', reward: 0, done: true }),
    });
    expect(await play(world, ['<action>s a l e t</action>'])).toMatchObject({ success: { agent: true } });
    expect(posts(seen)[1]).toEqual(['/wordle/reset', { id: 2, seed: 0 }]);
  });
});

describe('the dialect of `env_idx`', () => {
  test('webshop: a bare number, a list, and `state` for the observation', async () => {
    const { world, seen } = await gym('webshop', {
      '/create': () => 17,
      '/reset': () => ['Instruction: find a mug', null],
      '/step': () => ({ state: 'thanks', reward: 0.5, done: true, info: null }),
    });
    expect(await play(world, ['<action>click[buy now]</action>'])).toMatchObject({
      outcome: { agent: 0.5 },
      success: { agent: false },
    });
    expect(posts(seen)).toEqual([
      ['/create', {}],
      ['/reset', { env_idx: 17, session_id: 0 }],
      ['/step', { env_idx: 17, action: 'click[buy now]' }],
    ]);
  });

  test('webarena: terminated and truncated instead of done, and a reset that timed out', async () => {
    const { world } = await gym('webarena', {
      '/create': () => ({ env_idx: 3 }),
      '/reset': (_, count) => ({
        observation: count === 0 ? 'page' : 'TimeoutError',
        sites: [],
        object: 'x',
      }),
      '/step': () => ({ observation: 'end', reward: 1, terminated: false, truncated: true, info: {} }),
      '/close': () => ({ closed: 'yes' }),
    });
    expect(await play(world, ['<action>stop [3]</action>'])).toMatchObject({
      stop: 'done',
      success: { agent: true },
    });
    expect(await play(world, ['<action>stop [3]</action>'])).toMatchObject({ stop: 'failed:environment' });
  });

  test('sqlgym hands out the same sessions in turn: two episodes never share one', async () => {
    const { world } = await gym('sqlgym', {
      '/create': (_, count) => (count < 2 ? 5 : 6),
      '/reset': () => ['question', null],
      '/step': () => ({ state: 'rows', reward: 1, done: true, info: {} }),
    });
    const rng = {} as never;
    const [first, second] = [await world.open({ index: 0 }, rng), await world.open({ index: 1 }, rng)];
    await expect(world.open({ index: 2 }, rng)).rejects.toMatchObject({ code: 'remote-full' });
    await Promise.all([first.close(), second.close()]);
    await (await world.open({ index: 2 }, rng)).close();
  });
});

describe('failures are failures, not rewards', () => {
  const good: Answers = {
    '/create': () => ({ id: 1 }),
    '/reset': () => ({ observation: 'go', done: false, reward: 0 }),
    '/close': () => true,
  };
  test.each([
    ['an error with status 200', () => ({ error: 'no such id' }), 'no such id'],
    ['no reward', () => ({ observation: 'x', done: false }), 'text, reward and done'],
    ['a bare string', () => 'boom', 'text, reward and done'],
  ])('%s', async (_, step, seen) => {
    const { world } = await gym('textcraft', { ...good, '/step': step });
    const episode = await play(world, ['<action>x</action>']);
    expect(episode).toMatchObject({ stop: 'failed:environment', transitions: [] });
    expect(episode.failure).toContain(seen);
  });

  test('a name that AgentGym does not have', async () => {
    const { url } = await httpServer((_, response) => sendJson(response, 'ok'));
    await expect(connectAgentGym('gym', url, 'textcraf')).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: AgentGym has no "textcraf". Seen: #textcraf. Allowed: textcraft, babyai, sciworld, alfworld, maze, wordle, webshop, sqlgym, searchqa, weather, movie, todo, sheet, academia, webarena. Did you mean "#textcraft"?]`,
    );
  });
});
