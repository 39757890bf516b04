/** Runs for programs: started or gone on with, they come back as soon as they are open. */

import { withUserCode } from '../rollout/node/stray-errors.ts';
import type { RunDirectory } from '../store/run-directory.ts';
import { definitionsIn } from '../train/config/setting-objects.ts';
import type { RunSummary } from '../train/loop/events.ts';
import { LiveEvents } from './live-events.ts';
import { type Definition, isDefinition } from './load/definitions.ts';
import type { WorldRequest } from './load/run-world.ts';
import { OpenRun, type Run } from './run.ts';
import type { RunControl } from './run-io.ts';
import type { RecipeInput } from './settings/run-recipe.ts';
import { type ResumeRequest, resumeRun, type StartRequest, startRun } from './training-run.ts';

/** What a program says of a run, whichever way it begins. */
type Ours = 'report' | 'signal' | 'stopRequested' | 'onOpen' | 'strays';
type Asked = Partial<Pick<RunControl, 'signal'>>;

/** Begin a run. @throws what `startRun` throws before the run is open */
export function beginRun(request: Omit<StartRequest, Ours> & Asked): Promise<Run> {
  const { factory, recipe, settings } = request;
  const given = [...definitionsOf(recipe), ...definitionsIn(settings)];
  return opened({ ...request, world: factory, definitions: given }, (control) =>
    startRun({ ...request, ...control }),
  );
}

/** What a recipe that is no name brings along. */
function definitionsOf(recipe: RecipeInput): Definition[] {
  if (typeof recipe === 'string') return [];
  if (isDefinition('recipe', recipe)) return [recipe];
  return [recipe.recipe, ...definitionsIn(recipe.settings)];
}

/** Go on with a run. @throws what `resumeRun` throws before the run is open */
export function continueRun(request: Omit<ResumeRequest, Ours> & Asked): Promise<Run> {
  return opened(request, (control) => resumeRun({ ...request, ...control }));
}

/** Resolves at the first event that is stored; what fails before it is the caller's. */
async function opened(
  request: Omit<WorldRequest, 'name'> & Asked,
  work: (control: Pick<RunControl, Exclude<Ours, 'strays'>>) => Promise<RunSummary>,
): Promise<Run> {
  const { root, world, definitions, signal = new AbortController().signal } = request;
  const stop = new AbortController();
  let directory: RunDirectory | undefined;
  let before = 0;
  const events = new LiveEvents(() => directory?.events.read().slice(before) ?? []);
  let open: (run: RunDirectory) => void = () => {};
  const isOpen = new Promise<RunDirectory>((resolve) => {
    open = resolve;
  });
  const finished = work({
    signal,
    stopRequested: () => stop.signal.aborted,
    report: (event) => events.push(event),
    onOpen: (run) => {
      directory = run;
      before = run.events.read().length - 1;
      open(run);
    },
  });
  finished.then(
    () => events.end(),
    (error: unknown) => events.end(stop.signal.aborted ? {} : { error }),
  );
  const run = await Promise.race([isOpen, finished.then(() => isOpen)]);
  return new OpenRun({
    place: { root, name: run.name, ...(world && { world }), ...(definitions && { definitions }) },
    folder: run.path,
    events,
    finished,
    stop: () => stop.abort(),
    guarded: (job) => withUserCode(signal, job),
  });
}
