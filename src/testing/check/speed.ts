/** How long a step takes, beside an environment that does nothing. */

import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import type { Environment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import type { World } from '../../env/world.ts';
import { random } from './players.ts';
import type { Checked } from './report.ts';
import { placeOf, type Subject } from './subject.ts';

const noOp: Environment<null, number> = {
  name: 'no-op',
  description: 'Does nothing.',
  maxTurns: 20,
  tasks: () => ({ size: 1, at: () => null }),
  start: () => ({ state: 0, messages: [user('start')] }),
  step: (count) => ({ state: count + 1, observation: 'on', reward: 0, done: false, valid: true }),
  actions: () => ['on'],
};

export async function checkSpeed(subject: Subject): Promise<Checked> {
  const { world, options, slowestMs } = subject;
  const own = await stepMs(world, (seed) => placeOf(subject, seed).task, subject.episodes);
  if (own === undefined) return { check: 'speed', seen: 'no random player', findings: [] };
  const idle = (await stepMs(fromEnvironment(noOp), () => null, 200))!;
  const seen = `${Math.round(1000 / own.median)} steps/s, ${(idle.median / own.median).toFixed(3)} of an environment that does nothing`;
  const findings =
    own.median <= slowestMs
      ? []
      : [
          {
            fault: `half of the steps take more than ${own.median.toFixed(1)} ms; ${slowestMs} are allowed`,
            counterexample: { options, ...placeOf(subject, 0).place, milliseconds: own.median },
            next: 'Compute once what does not change, keep large data on a base, or allow more with --slowest.',
          },
        ];
  return { check: 'speed', seen, findings };
}

/** Median over steps of random players, choosing not counted. */
async function stepMs(
  world: World,
  taskOf: (seed: number) => Parameters<World['open']>[0],
  episodes: number,
) {
  const { signal } = new AbortController();
  const times: number[] = [];
  for (let seed = 0; seed < episodes; seed++) {
    const rng = Rng.of('speed', seed);
    const session = await world.open(taskOf(seed), Rng.of('world', seed));
    for (let turn = 0; turn < world.maxTurns && session.toMove() !== undefined; turn++) {
      const action = await random.choose(world, session, rng);
      if (action === undefined) return undefined;
      const from = performance.now();
      await session.step(action, signal);
      for (const role of world.roles) session.observe(role);
      times.push(performance.now() - from);
    }
    await session.close();
  }
  times.sort((one, other) => one - other);
  return { median: times[Math.floor(times.length / 2)] ?? 0 };
}
