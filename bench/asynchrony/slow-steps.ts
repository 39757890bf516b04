/**
 * How long slow steps of an environment hold others up: a tenth of them take two seconds, in lockstep and with continuous
 * batching, beside an event simulation in which nothing else takes any time.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { world as lake } from '../../envs/frozen-lake/index.ts';
import { mean } from '../../src/core/statistics.ts';
import type { WorldFactory } from '../../src/env/factory.ts';
import type { Session } from '../../src/env/session.ts';
import type { World } from '../../src/env/world.ts';
import { learnerRun } from '../learner-run.ts';
import { simulate } from './simulation.ts';

const SLOTS = 64;
const SHARE = 0.1;
/** The first step is not measured: its sampler is cold. */
const STEPS = 3;

/** @param seconds that a slow step takes */
export async function benchSlowSteps({ seconds = 2 } = {}): Promise<object> {
  const continuous = await acting('continuous', seconds);
  const lockstep = await acting('lockstep', seconds);
  const none = await acting('continuous', 0);
  return {
    slowStepSeconds: seconds,
    withoutSlowSteps: none.acting,
    ideal: continuous.ideal,
    continuous: { seconds: continuous.acting, timesIdeal: continuous.acting / continuous.ideal },
    lockstep: { seconds: lockstep.acting, timesIdeal: lockstep.acting / lockstep.ideal },
  };
}

/** Mean seconds of a step's episodes, and those of the simulation. */
async function acting(
  batching: 'lockstep' | 'continuous',
  seconds: number,
): Promise<{ readonly acting: number; readonly ideal: number }> {
  const clock: Clock = { on: false, seconds, episodes: [] };
  const measured: number[] = [];
  const ideals: number[] = [];
  await learnerRun({
    world: slowed(lake, clock),
    recipe: 'grpo',
    settings: {
      seed: 1,
      steps: STEPS,
      threads: 2,
      model: { width: 64, layers: 2, heads: 2, hidden: 172 },
      clone: { demonstrations: 400, steps: 20 },
      rollout: { tasks: 32, group: 8, concurrency: SLOTS, batching, turnTimeoutMs: 600_000 },
      optimizer: { learningRate: 1e-12 },
      evaluation: { every: 0, finalTasks: 1 },
    },
    wrap: (engine) => engine,
    event: (event) => {
      if (event.type === 'phase' && event.phase === 'train') clock.on = true;
      if (event.type !== 'step') return;
      const steps = [clock.episodes.map((episode) => episode.seconds)];
      clock.episodes = [];
      process.stderr.write(`${batching}: ${event.metrics['time/rollout_s']!.toFixed(1)} s\n`);
      if (event.step === STEPS) clock.on = false;
      if (event.step === 1) return;
      measured.push(event.metrics['time/rollout_s']!);
      ideals.push(simulate({ steps, learning: 0, slots: SLOTS, maxStaleness: 0 })[0]!);
    },
  });
  return { acting: mean(measured), ideal: mean(ideals) };
}

interface Clock {
  /** Whether steps are slow now: neither demonstrations nor evaluations have any. */
  on: boolean;
  readonly seconds: number;
  /** In the order in which they were opened. */
  episodes: { seconds: number }[];
}

/** The same world, a share of whose steps takes its time; which ones, the chance of the episode decides. */
function slowed(factory: WorldFactory, clock: Clock): WorldFactory {
  return {
    ...factory,
    create: (options) => {
      const { pure: _, script, ...world } = factory.create(options);
      const inner = new WeakMap<Session, Session>();
      const slow: World = {
        ...world,
        ...(script && { script: (session, kind, rng) => script(inner.get(session)!, kind, rng) }),
        open: async (task, rng, startRng, signal) => {
          const chance = rng.fork('slow');
          const session = await world.open(task, rng, startRng, signal);
          const episode = { seconds: 0 };
          if (clock.on) clock.episodes.push(episode);
          const wrapped: Session = {
            roles: session.roles,
            toMove: () => session.toMove(),
            observe: (role) => session.observe(role),
            anchor: (role) => session.anchor(role),
            close: () => session.close(),
            step: async (action, aborted) => {
              if (clock.on && chance.chance(SHARE)) {
                episode.seconds += clock.seconds;
                await sleep(1000 * clock.seconds);
              }
              return session.step(action, aborted);
            },
          };
          inner.set(wrapped, session);
          return wrapped;
        },
      };
      return slow;
    },
  };
}
