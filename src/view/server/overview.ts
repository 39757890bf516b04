/** Runs as rows of the list, and one of them as its page begins. Of episodes only what the index says. */

import { TurnwiseError } from '../../core/errors.ts';
import { leaves } from '../../core/json/leaves.ts';
import { thrownText } from '../../core/safe-text.ts';
import { failurePrefix } from '../live-overview.ts';
import type { Problem, RunOverview, RunRow } from '../shapes.ts';
import { readAnnotations } from './annotations.ts';
import { allFinite, finite } from './finite.ts';
import type { RunsFolder } from './runs-folder.ts';
import type { WatchedRun } from './watched-run.ts';

const sparklinePoints = 96;
const stepSeconds = 'time/step_s';

export function problemOf(error: unknown): Problem {
  return TurnwiseError.isInstance(error)
    ? { code: error.code, message: error.message }
    : { code: 'unexpected', message: thrownText(error) };
}

/** A run that cannot be read has a row too, which says why. */
export function rowOf(run: WatchedRun): RunRow {
  const { history } = run.history();
  try {
    const { world, recipe, config } = run.config();
    const metrics = run.metrics();
    const seconds = finite(metrics.sum(stepSeconds) / metrics.length);
    return {
      name: run.name,
      state: run.state(),
      world: world.name,
      recipe,
      ...(typeof config.seed === 'number' && { seed: config.seed }),
      history,
      ...(seconds !== null && { secondsPerStep: seconds }),
      training: Array.from(
        metrics.series(['reward/success'], sparklinePoints).series['reward/success']!.mean,
        finite,
      ),
      settings: Object.fromEntries(leaves(config)),
    };
  } catch (error) {
    return {
      name: run.name,
      state: 'unreadable',
      problem: problemOf(error),
      world: history.start?.environment ?? '',
      recipe: history.start?.recipe ?? '',
      history,
      training: [],
      settings: {},
    };
  }
}

export function overviewOf(folder: RunsFolder, run: WatchedRun): RunOverview {
  const { history, offset, damaged } = run.history();
  const { world, recipe } = run.config();
  const metrics = run.metrics();
  const names = metrics.names();
  const { steps: stored, evaluationSteps: evaluated } = run.places();
  return {
    name: run.name,
    state: run.state(),
    world: world.name,
    recipe,
    resume: folder.resume(run.name),
    history,
    offset,
    damaged,
    metrics: names,
    latest: allFinite(metrics.latest()),
    failed: Object.fromEntries(
      names
        .filter((name) => name.startsWith(failurePrefix))
        .map((name) => [name.slice(failurePrefix.length), metrics.sum(name)]),
    ),
    stored,
    evaluated,
    episodes: history.spent?.episodes ?? metrics.sum('episodes/total'),
    checkpoints: run.checkpoints(),
    annotations: readAnnotations(run).length,
  };
}
