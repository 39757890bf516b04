/** An agent is trained through the gateway for minutes, and weighed every second. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Child } from './child.ts';
import { growthOf } from './growth.ts';
import { afterSteps, stepsOf } from './run-events.ts';

/** A process grows at first: code is compiled, caches fill. */
const SETTLING_SHARE = 0.2;
const WEIGHING_MS = 1000;

const agent = join(import.meta.dirname, '..', '..', '..', 'examples', 'agents', 'openai-client.ts');

/** The run is `soaked` below `folder`; it is stopped as a person would, and has to say how it goes on. */
export async function soakTraining(folder: string, minutes: number): Promise<object> {
  const settings = [
    ...['clone.demonstrations=64', 'clone.steps=40', 'rollout.tasks=4', 'rollout.group=4', 'threads=1'],
    ...['steps=1000000', 'evaluation.every=50', 'evaluation.tasks=20', 'evaluation.finalTasks=20'],
  ];
  const sets = settings.flatMap((one) => ['--set', one]);
  const child = Child.collected(['train', agent, '--name', 'soaked', ...sets], folder);
  // The minutes begin with the first step: imitation comes before it.
  if (!(await afterSteps(1, folder, 'soaked', child)))
    throw new Error(`soaked ended at once:\n${child.output}`);
  const until = performance.now() + 60_000 * minutes;
  const megabytes_N: number[] = [];
  while (performance.now() < until && !child.over) {
    megabytes_N.push(child.megabytes);
    await sleep(WEIGHING_MS);
    if (megabytes_N.length % 30 === 0)
      process.stderr.write(`training ${megabytes_N.length} s: ${Math.round(megabytes_N.at(-1)!)} MB\n`);
  }
  const { code, output } = await child.stop();
  const steps = stepsOf(folder, 'soaked');
  const failed = steps.map(({ metrics }) => metrics?.['episodes/failed'] ?? 0);
  return {
    minutes,
    steps: steps.length,
    failedEpisodes: failed.reduce((sum, count) => sum + count, 0),
    exitCode: code,
    saysHowToGoOn: /turnwise resume soaked/.test(output),
    ...growthOf(megabytes_N.slice(Math.floor(SETTLING_SHARE * megabytes_N.length))),
  };
}
