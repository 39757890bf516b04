/** Servers of others that the pages suppose to be there, stood in for on free ports. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serveClerk } from '../../examples/agents/support-desk/endpoint.ts';
import { findEnvironment } from '../../src/run/load/environments.ts';
import { checkpointSource, randomSource } from '../../src/run/model/served-model.ts';
import { serveEnvironment } from '../../src/server/environment/serve.ts';
import { listenTinker } from '../../src/server/tinker/listen.ts';

export interface StandIns {
  /** A model that knows where fruit is and answers `2` otherwise, over OpenAI's API; it takes any other POST, too. */
  readonly chat: string;
  /** The clerk of the support desk, who answers as a rented model does. */
  readonly clerk: string;
  /** frozen-lake, over both protocols. */
  readonly environment: string;
  /** A server of AgentGym whose episodes end at the second action. */
  readonly agentGym: string;
  /** The Tinker API over a small model with random weights, called `small`, and over a checkpoint. */
  readonly tinker: string;
  readonly tinkerCheckpoint: string;
  close(): Promise<void>;
}

const engine = { threads: 1, tokenBudget: 512, inProcess: true };
const shape = {
  vocabulary: 64,
  width: 16,
  layers: 1,
  heads: 2,
  keyValueHeads: 2,
  headWidth: 8,
  hidden: 32,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10_000,
  contextLength: 256,
  normEpsilon: 1e-5,
} as const;

/** @param folder with the checkpoint `my-model`; served weights are kept there as well */
export async function startStandIns(folder: string): Promise<StandIns> {
  const closing: (() => Promise<unknown>)[] = [];
  const http = async (answer: (path: string, body: Record<string, unknown>) => unknown): Promise<string> => {
    const server: Server = createServer(async (request, response) => {
      let text = '';
      for await (const part of request) text += String(part);
      let body: Record<string, unknown> = {};
      try {
        body = JSON.parse(text) as Record<string, unknown>;
      } catch {
        // Whoever sends something else reads no answer.
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer(request.url ?? '', body)));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    closing.push(async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const tinker = async (name: string): Promise<string> => {
    const source =
      name === 'small'
        ? randomSource(name, shape, 1, engine)
        : await checkpointSource(join(folder, 'my-model'), { name, contextLength: 512, ...engine });
    const app = { apiKey: 'tml-pages' };
    const listening = await listenTinker({
      source,
      folder: join(folder, 'served'),
      port: 0,
      host: '127.0.0.1',
      app,
    });
    closing.push(async () => {
      await listening.close();
      await source.close();
    });
    return listening.url;
  };

  const shelves: Readonly<Record<string, string>> = {
    apples: 'green',
    pears: 'red',
    plums: 'red',
    figs: 'green',
  };
  const chat = await http((_, body) => {
    const [, fruit = ''] = /which shelf has (\w+)/.exec(JSON.stringify(body)) ?? [];
    const message = { role: 'assistant', content: shelves[fruit] ?? '2' };
    return {
      choices: [{ message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
  });
  const turns = new Map<unknown, number>();
  const agentGym = await http((path, { id }) => {
    if (path === '/create') return { id: turns.size };
    if (path === '/reset') turns.set(id, 0);
    if (path === '/reset') return { id, observation: 'Goal: craft 16 glass pane.', done: false, reward: 0 };
    if (path !== '/step') return true;
    const turn = (turns.get(id) ?? 0) + 1;
    turns.set(id, turn);
    return { observation: `turn ${turn}`, reward: turn === 2 ? 1 : 0, done: turn === 2 };
  });
  const lake = await findEnvironment('frozen-lake');
  const served = await serveEnvironment({ world: lake.create(lake.options.parse({})), port: 0 });
  closing.push(() => served.close());
  const clerk = await serveClerk();
  closing.push(async () => clerk.close());
  return {
    chat,
    clerk: clerk.url,
    agentGym,
    environment: `127.0.0.1:${served.port}`,
    tinker: await tinker('small'),
    tinkerCheckpoint: await tinker('Qwen/Qwen3-0.6B'),
    close: async () => {
      for (const close of closing.splice(0).reverse()) await close();
    },
  };
}
