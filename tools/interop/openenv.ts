/**
 * Our OpenEnv client against OpenEnv's own server, and OpenEnv's own client against our server; prints what it saw.
 *
 * usage: PYTHON=/path/to/python node dist/tools/interop/openenv.js [EXCHANGES [CLIENT_EXCHANGES]] (pip install openenv-core uvicorn)
 *
 * EXCHANGES and CLIENT_EXCHANGES are files to record an episode of our client, and one of theirs, to.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { world as frozenLake } from '../../envs/frozen-lake/index.ts';
import { playEpisode } from '../../src/env/play.ts';
import { connectOpenEnv } from '../../src/env/remote/openenv.ts';
import { toolAction } from '../../src/env/tool-protocol.ts';
import { serveEnvironment } from '../../src/server/environment/serve.ts';
import { python, say, startPython } from './python-server.ts';
import { recordTo } from './recorder.ts';

const [exchanges, clientExchanges] = process.argv.slice(2);
const scripts = join(process.cwd(), 'tools', 'interop');

function theirServer(kind: string, limit: number): Promise<{ port: number; child: ChildProcess }> {
  return startPython(
    (port) => [join(scripts, 'openenv_echo_server.py'), String(port), kind, String(limit)],
    '/health',
    { needs: 'openenv-core and uvicorn' },
  );
}

async function ourClient(): Promise<void> {
  const echo = await theirServer('echo', 1);
  try {
    const factory = await connectOpenEnv('openenv:echo', `ws://127.0.0.1:${echo.port}`);
    const world = factory.create(factory.options.parse({ timeoutMs: 10_000, maxTurns: 5 }));
    say(`their echo server: ${world.description} Actions: ${world.protocol.name}`);
    const words = ['hello', 'stop'];
    for (const index of [0, 1]) {
      let turn = 0;
      const played = await playEpisode(world, world.tasks('train').at(index), 1, () => words[turn++]!);
      const read = played.turns.map(({ messages }) => messages[0]?.content);
      say(
        `  task ${index}: read ${JSON.stringify(read)}, return ${played.outcome}, success ${played.success}`,
      );
    }
    await playEpisode(world, world.tasks('train').at(2), 1, () => 'fail').catch((error: Error) =>
      say(`  an environment that raises: ${error.message}`),
    );
    const both = await Promise.allSettled(
      [3, 4].map((index) =>
        playEpisode(world, world.tasks('train').at(index), 1, async () => {
          await sleep(100);
          return 'stop';
        }),
      ),
    );
    say(`  two at once on a server for one: ${both.map(({ status }) => status).join(', ')}`);
  } finally {
    echo.child.kill();
  }
  const dial = await theirServer('dial', 64);
  const recorder = await recordTo(dial.port);
  try {
    const factory = await connectOpenEnv('openenv:dial', `ws://127.0.0.1:${recorder.port}`);
    const world = factory.create(factory.options.parse({ timeoutMs: 10_000, maxTurns: 5 }));
    say(`their dial server: actions are ${world.protocol.name}: ${JSON.stringify(world.protocol.tools)}`);
    const wrong = world.protocol.parse(
      '<tool_call>{"name":"act","arguments":{"turn":"up","clicks":2}}</tool_call>',
    );
    say(`  a wrong action: ${wrong.ok ? 'accepted' : wrong.problem}`);
    const clicks = [5, -2, 1];
    const recorded = await playEpisode(world, world.tasks('train').at(1), 1, () =>
      toolAction('act', { turn: 'right', clicks: clicks.shift() ?? 1 }),
    );
    say(`  one episode: return ${recorded.outcome}, success ${recorded.success}`);
    if (exchanges !== undefined) recorder.save(exchanges, "a dial of openenv-core's server");
    const played = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        playEpisode(world, world.tasks('test').at(index), index, (session) => {
          const text = session.observe('agent').at(-1)!.content;
          const { position, target } = JSON.parse(text) as { position: number; target: number };
          return toolAction('act', { turn: 'right', clicks: target - position });
        }),
      ),
    );
    say(`  32 episodes at once: ${played.filter(({ success }) => success).length} solved`);
  } finally {
    recorder.close();
    dial.child.kill();
  }
}

async function ourServer(): Promise<void> {
  const world = frozenLake.create(frozenLake.options.parse({}));
  const server = await serveEnvironment({ world, port: 0 });
  const recorder = await recordTo(server.port);
  const child = spawn(python, [join(scripts, 'openenv_client.py'), String(recorder.port)], {
    stdio: 'inherit',
  });
  say('their client, our server:');
  const [code] = (await once(child, 'exit')) as [number];
  if (clientExchanges !== undefined) recorder.save(clientExchanges, "openenv-core's GenericEnvClient");
  await sleep(200);
  say(`  exit code ${code}, sessions left open: ${server.openSessions()}`);
  recorder.close();
  await server.close();
}

await ourClient();
await ourServer();
process.exit(0);
