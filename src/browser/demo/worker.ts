/** The worker of the page: trains, keeps the episodes, and answers what the page asks about them. The visitor's code runs here. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Problem } from '../../view/shapes.ts';
import { type BrowserRun, trainInBrowser } from '../train.ts';
import { frozenLake, wordle } from '../worlds.ts';
import { KeptEpisodes } from './kept-episodes.ts';
import type { Ask, FromWorker, StartRequest, ToWorker } from './messages.ts';
import { ownWorld } from './own-world.ts';
import { openRuntime } from './runtime.ts';
import { demoSettings } from './settings.ts';

/** What is used of the scope of a worker. */
interface WorkerScope {
  postMessage(message: FromWorker, transfer?: readonly Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
}

const scope = globalThis as unknown as WorkerScope;
const stop = new AbortController();
let run: BrowserRun | undefined;
let code: string | undefined;
const episodes = new KeptEpisodes(() => run?.words ?? []);

async function start({ world, steps, seed, ...request }: StartRequest): Promise<void> {
  const { note, runtime, provider, threads } = await openRuntime(request, import.meta.url);
  scope.postMessage({ type: 'computes', provider, threads, ...(note !== undefined && { note }) });
  if (world === 'own') code = request.code;
  const chosen = world === 'own' ? await ownWorld(request.code) : world === 'wordle' ? wordle : frozenLake;
  let checkpoint = -1;
  run = trainInBrowser({
    ...{ runtime, provider, world: chosen, signal: stop.signal },
    settings: demoSettings(world, steps, seed),
    onEvent: (event) => {
      scope.postMessage({ type: 'event', event });
      const step = run?.checkpointStep;
      if (step === undefined || step === checkpoint) return;
      checkpoint = step;
      scope.postMessage({ type: 'checkpoint', step });
    },
    onEpisodes: (played) => scope.postMessage({ type: 'episodes', listed: episodes.add(played) }),
  });
  await run.finished;
  scope.postMessage({ type: 'checkpoint', step: run.checkpointStep ?? 0 });
  scope.postMessage({ type: 'ended', how: 'finished' });
}

function problemOf(error: unknown): Problem {
  if (TurnwiseError.isInstance(error)) return { code: error.code, message: error.message };
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) };
}

async function answer(id: number, ask: Ask): Promise<void> {
  try {
    if (ask.kind === 'view') {
      const value = episodes.answer(ask.path);
      if (value === undefined) throw gone();
      scope.postMessage({ type: 'answer', id, value });
      return;
    }
    if (run === undefined) throw gone();
    const further = code === undefined ? [] : [{ path: 'world.mjs', bytes: new TextEncoder().encode(code) }];
    const value = await run.archive(ask.name, further);
    scope.postMessage({ type: 'answer', id, value }, [value.buffer]);
  } catch (error) {
    scope.postMessage({ type: 'answer', id, problem: problemOf(error) });
  }
}

function gone(): TurnwiseError {
  return new TurnwiseError('episode-unknown', {
    what: 'This tab keeps no such episodes',
    next: 'Old steps are thinned out: choose one of the list',
  });
}

scope.onmessage = ({ data }) => {
  if (data.type === 'stop') stop.abort();
  else if (data.type === 'ask') void answer(data.id, data.ask);
  else
    start(data).catch((error: unknown) => {
      if (stop.signal.aborted) scope.postMessage({ type: 'ended', how: 'stopped' });
      else scope.postMessage({ type: 'ended', how: 'failed', problem: problemOf(error) });
    });
};
