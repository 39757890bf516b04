/**
 * A run with every sink, stopped and resumed, read back by TensorBoard, W&B and OpenTelemetry.
 *
 *     pip install tensorboard==2.21.0 wandb==0.31.0 opentelemetry-proto==1.45.2
 *     npm run build && PYTHON=$(which python) node dist/tools/interop/sinks.js
 */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  csv,
  otlp,
  resume,
  type Sink,
  start,
  type TrainSettings,
  tensorboard,
  wandb,
} from '../../src/exports/index.ts';
import { python, say } from './python-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-sinks-'));
mkdirSync(join(folder, 'otlp'));
let requests = 0;
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const signal = request.url!.split('/').at(-1);
    writeFileSync(
      join(folder, 'otlp', `${String(requests++).padStart(3, '0')}.${signal}`),
      Buffer.concat(parts),
    );
    response.end();
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const sinks = (): Sink[] => [
  tensorboard(join(folder, 'tb')),
  wandb({ folder }),
  otlp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { content: true }),
  csv(join(folder, 'metrics.csv')),
];

const settings: TrainSettings = {
  steps: 6,
  threads: 1,
  model: { width: 32, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 200, steps: 40, batch: 32 },
  rollout: { tasks: 6, group: 4 },
  evaluation: { every: 2, tasks: 12, finalTasks: 12 },
};
const runs = join(folder, 'runs');
const run = await start({
  world: 'frozen-lake',
  recipe: 'rloo',
  name: 'first',
  runs,
  settings,
  sinks: sinks(),
});
for await (const event of run.events) if (event.type === 'step' && event.step === 3) run.stop();
await run.finished.catch(() => {});
await (await resume('first', { runs, sinks: sinks() })).finished;
server.close();
cpSync(join(runs, 'first', 'events.jsonl'), join(folder, 'events.jsonl'));

const reader = join(import.meta.dirname, '../../../tools/interop/read_sinks.py');
const path = `${dirname(python)}:${process.env.PATH}`;
const { status } = spawnSync(python, [reader, folder], {
  stdio: 'inherit',
  env: { ...process.env, PATH: path },
});
say(`files            ${folder}`);
process.exitCode = status ?? 1;
