/** `node strangers.js agentgym|nemo`: servers that speak the protocols of others, each with one easy task a number. Prints its address. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Body = Readonly<Record<string, unknown>>;

export const THINGS = ['stick', 'door', 'boat', 'sign'] as const;

const goals = new Map<number, string>();

const kinds: Readonly<Record<string, (path: string, body: Body) => unknown>> = {
  agentgym: (path, { id, data_idx: index, action }) => {
    if (path === '/') return 'ok';
    if (path === '/create') {
      const made = goals.size;
      goals.set(made, '');
      return { id: made, observation: '', done: false, reward: 0 };
    }
    if (path === '/reset') {
      const goal = THINGS[Number(index) % THINGS.length]!;
      goals.set(Number(id), goal);
      return { id, observation: `Goal: craft ${goal}.`, done: false, reward: 0 };
    }
    if (path === '/close') return true;
    if (path !== '/step') return undefined;
    const done = action === `craft ${goals.get(Number(id))}`;
    return { observation: done ? 'Crafted' : 'Could not', reward: done ? 1 : 0, done };
  },
  nemo: (path, body) => {
    if (path === '/seed_session') return {};
    if (path === '/look_up') return THINGS[Number(body.number)];
    if (path !== '/verify') return undefined;
    const { output } = body.response as { output: { content?: { text: string }[] }[] };
    return { ...body, reward: output.at(-1)?.content?.[0]?.text === body.expected ? 1 : 0 };
  },
};

const answer = kinds[process.argv[2] ?? ''];
if (answer) {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk;
    const said = answer(request.url ?? '', (text === '' ? {} : JSON.parse(text)) as Body);
    const cookie = { 'set-cookie': 'session=one; Path=/' };
    response.writeHead(said === undefined ? 404 : 200, { 'content-type': 'application/json', ...cookie });
    response.end(JSON.stringify(said ?? { detail: 'Not Found' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.stdout.write(`address http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
}
