/**
 * Our AgentGym client against AgentGym's own TextCraft server; prints what it saw.
 *
 * usage: PYTHON=/path/to/python node dist/tools/interop/agentgym.js AGENTGYM [EXCHANGES [DEMONSTRATIONS]]
 *
 * AGENTGYM is a checkout of AgentGym; Python needs fastapi, uvicorn and gymnasium. EXCHANGES is a file to record to, and
 * DEMONSTRATIONS one for `environment.demonstrations`.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { playEpisode } from '../../src/env/play.ts';
import { connectAgentGym } from '../../src/env/remote/agentgym.ts';
import { python, say, startPython } from './python-server.ts';
import { recordTo } from './recorder.ts';

const [checkout, exchanges, demonstrations] = process.argv.slice(2);
if (checkout === undefined) throw new Error('Name the folder of a checkout of AgentGym');

const { port, child } = await startPython(
  (free) => ['-m', 'uvicorn', 'agentenv_textcraft:app', '--host', '127.0.0.1', '--port', String(free)],
  '/',
  { folder: join(checkout, 'agentenv-textcraft'), needs: 'fastapi, uvicorn and gymnasium' },
);
const recorder = await recordTo(port);

/** The goal, where one of the recipes makes it from things that can be picked up. */
function plan(opening: string): string[] {
  const goal = /Goal: craft (.*)\./.exec(opening)?.[1] ?? '';
  const recipe = new RegExp(`^craft \\d+ ${goal} using (.*)$`, 'm').exec(opening);
  if (recipe === null) return ['inventory'];
  return [...recipe[1]!.split(', ').map((part) => `get ${part}`), recipe[0]];
}

try {
  const factory = await connectAgentGym(
    'agentgym:textcraft',
    `http://127.0.0.1:${recorder.port}`,
    'textcraft',
  );
  const world = factory.create(factory.options.parse({ trainTasks: 120, maxTurns: 6 }));
  say(`AgentGym's TextCraft server, run by ${python}`);
  const train = world.tasks('train');
  const solved: { task: number; actions: string[] }[] = [];
  const count = demonstrations === undefined ? 3 : train.size;
  for (let task = 0; task < count; task++) {
    let actions: string[] | undefined;
    let turn = 0;
    const played = await playEpisode(world, train.at(task), task, (session) => {
      actions ??= plan(session.observe('agent').at(-1)!.content);
      return actions[turn++] ?? 'inventory';
    });
    if (task < 3) {
      const said = played.turns.slice(1).map(({ messages }) => messages.at(-1)?.content);
      say(`  task ${task}: ${JSON.stringify(actions)} → ${JSON.stringify(said)}, return ${played.outcome}`);
    }
    if (played.success) solved.push({ task, actions: actions! });
  }
  say(`  ${solved.length} of ${count} tasks solved from their own recipes`);
  const lost = await playEpisode(world, train.at(0), 1, () => '').catch((error: Error) => error.message);
  say(
    `  no action at all: ${typeof lost === 'string' ? lost : `return ${lost.outcome} after ${lost.turns.length} turns`}`,
  );
  if (exchanges !== undefined) recorder.save(exchanges, 'TextCraft of AgentGym');
  if (demonstrations !== undefined) {
    writeFileSync(demonstrations, solved.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
} finally {
  recorder.close();
  child.kill();
}
process.exit(0);
