/**
 * Our NeMo Gym client against a resources server of NeMo Gym itself (its stateful counter); prints what it saw.
 *
 * usage: PYTHON=/path/to/python node dist/tools/interop/nemo.js TASKS [EXCHANGES [DEMONSTRATIONS]]
 *
 * Python needs nemo-gym. Writes a file of tasks to TASKS, records to EXCHANGES, and writes solutions of the train tasks to
 * DEMONSTRATIONS (for `environment.demonstrations`).
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { playEpisode } from '../../src/env/play.ts';
import { connectNemo } from '../../src/env/remote/nemo.ts';
import { toolAction } from '../../src/env/tool-protocol.ts';
import { say, startPython } from './python-server.ts';
import { recordTo } from './recorder.ts';

const [tasks, exchanges, demonstrations] = process.argv.slice(2);
if (tasks === undefined) throw new Error('Name a file for the tasks');

const tool = (name: string, properties: object): object => ({
  type: 'function',
  name,
  description: '',
  strict: true,
  parameters: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
});
const tools = [tool('increment_counter', { count: { type: 'integer' } }), tool('get_counter_value', {})];
const rows = Array.from({ length: 60 }, (_, index) => {
  const [first, second] = [1 + (index % 6), 1 + (Math.floor(index / 6) % 5)];
  return {
    responses_create_params: {
      input: [{ role: 'user', content: `add ${first} then add ${second} then get the count` }],
      tools,
    },
    initial_count: 3,
    expected_count: 3 + first + second,
  };
});
writeFileSync(tasks, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

const { port, child } = await startPython(
  (free) => [
    join(process.cwd(), 'tools', 'interop', 'nemo_server.py'),
    'example_session_state_mgmt',
    'StatefulCounterResourcesServer',
    String(free),
  ],
  // Every version answers it.
  '/openapi.json',
  { needs: 'nemo-gym' },
);
const recorder = await recordTo(port);

const solution = (question: string): string[] => [
  ...[...question.matchAll(/add (\d+)/g)].map(([, count]) =>
    toolAction('increment_counter', { count: Number(count) }),
  ),
  toolAction('get_counter_value', {}),
  JSON.stringify({ answer: 'done' }),
];

try {
  const factory = await connectNemo('nemo:counter', `http://127.0.0.1:${recorder.port}`, tasks);
  const world = factory.create(factory.options.parse({}));
  const train = world.tasks('train');
  for (const kind of ['solved', 'left out'] as const) {
    let actions: string[] = [];
    const played = await playEpisode(world, train.at(0), 1, (session) => {
      const reads = session.observe('agent');
      if (actions.length === 0) actions = solution(reads.at(-1)!.content).slice(kind === 'solved' ? 0 : 1);
      return actions.shift()!;
    });
    const said = played.turns.slice(1).map(({ messages }) => messages.at(-1)?.content);
    say(`${kind}: tools said ${JSON.stringify(said)}, reward ${played.outcome}`);
  }
  if (exchanges !== undefined) recorder.save(exchanges, 'the stateful counter of NeMo Gym');
  const both = await Promise.all(
    Array.from({ length: train.size }, (_, index) => {
      let actions: string[] = [];
      return playEpisode(world, train.at(index), index, (session) => {
        if (actions.length === 0) actions = solution(session.observe('agent').at(-1)!.content);
        return actions.shift()!;
      });
    }),
  );
  say(`${both.filter(({ success }) => success).length} of ${train.size} solved, all at once`);
  if (demonstrations !== undefined) {
    const lines = Array.from({ length: train.size }, (_, task) => {
      const row = rows.filter((__, index) => index % 10 > 1)[task]!;
      const actions = solution(row.responses_create_params.input[0]!.content).map((action) => {
        const act = JSON.parse(action) as { answer?: string };
        return act.answer ?? act;
      });
      return `${JSON.stringify({ task, actions })}\n`;
    });
    writeFileSync(demonstrations, lines.join(''));
  }
} finally {
  recorder.close();
  child.kill();
}
process.exit(0);
