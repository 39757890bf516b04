/** Parts that a run opens whether it begins or goes on. */

import { z } from 'zod';
import type { Engine } from '../engine/engine.ts';
import { startWatchdog, type Watchdog } from '../rollout/node/watchdog.ts';
import type { RunDirectory } from '../store/run-directory.ts';
import { commandIn } from '../store/runs.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { createLearner, type Learner } from '../train/kit/learner.ts';
import { guarded } from '../train/loop/probes.ts';
import type { OpenSeats } from './players/open-seats.ts';
import type { RunControl } from './run-io.ts';
import type { Scorers } from './scorers.ts';

/** The first learner with the others, who differ in their weights. */
export function learnerOf(
  parts: Parameters<typeof createLearner>[0],
  critic: Engine | undefined,
  seats: OpenSeats | undefined,
  scorers: Scorers,
  { probes = [] }: Pick<RunControl, 'probes'>,
): Learner {
  const shared = { ...parts, ...scorers.parts, ...(seats && { seats }) };
  const others = seats?.learners.map((other) => createLearner({ ...shared, ...other })) ?? [];
  return createLearner({
    ...shared,
    others,
    ...(critic && { critic }),
    probes: [...scorers.probes, ...probes.map(guarded)],
  });
}

/** Where other players of a run are found and kept. */
export function placeOfRun({ root, signal, spend }: RunControl, run: RunDirectory) {
  return {
    root,
    signal,
    ...(spend && { spend }),
    folder: run.path,
    checkpoints: () => run.checkpoints.steps(),
    source: run.readConfig(z.unknown()).world,
  };
}

/** Seconds that the run has spent learning up to a step, by its own events. */
export function spentSeconds(run: RunDirectory, step: number): number {
  const known = run.events.read().findLast((event) => event.type === 'step' && event.step <= step);
  return known?.type === 'step' ? known.spent.seconds : 0;
}

/** Ends the process when the environment blocks it for longer than a step may take. */
export function watchdog(root: string, run: RunDirectory, config: TrainConfig): Watchdog {
  const next = `Correct the environment, then continue with: ${commandIn(root, `resume ${run.name}`)}`;
  return startWatchdog(config.rollout.turnTimeoutMs, next);
}
