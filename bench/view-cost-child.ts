/** A training, or the viewer, in a process of its own, which tells what it took. */

import { train } from '../src/exports/train.ts';
import { listenView } from '../src/view/server/listen.ts';

export interface TrainingCost {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

export type ServerCost = Pick<TrainingCost, 'cpuSeconds'>;

const version = '0.1.0';

function cpuSeconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

function heard<T>(): Promise<T> {
  return new Promise((resolve) => process.once('message', (message) => resolve(message as T)));
}

if (process.argv[2] === 'train') {
  const { root, name, steps } = await heard<{
    readonly root: string;
    readonly name: string;
    readonly steps: number;
  }>();
  const before = process.cpuUsage();
  const from = performance.now();
  await train({
    world: 'frozen-lake',
    recipe: 'rloo',
    name,
    runs: root,
    settings: {
      steps,
      clone: { demonstrations: 300, steps: 50 },
      evaluation: { every: 10, tasks: 50, finalTasks: 50 },
    },
  });
  const cost: TrainingCost = { seconds: (performance.now() - from) / 1000, cpuSeconds: cpuSeconds(before) };
  process.send?.(cost, () => process.exit(0));
} else {
  const { root } = await heard<{ readonly root: string }>();
  const server = await listenView({ root, version }, 0);
  const before = process.cpuUsage();
  process.send?.({ address: server.address() });
  await heard<object>();
  const cost: ServerCost = { cpuSeconds: cpuSeconds(before) };
  await server.close();
  process.send?.(cost, () => process.exit(0));
}
