/** The run of this tab as the page sees it: signals that its worker's messages set. */

import { computed, signal } from '@preact/signals';
import type { Evaluations, Phase, RunEvent } from '../../train/loop/events.ts';
import { answerWith } from '../../view/page/data/bundle.ts';
import type { Problem } from '../../view/shapes.ts';
import type { Ask, FromWorker, ListedEpisodes, StartRequest, ToWorker } from './messages.ts';

export type State = 'idle' | 'starting' | 'running' | 'stopping' | 'finished' | 'stopped' | 'failed';

export interface StepPoint {
  readonly step: number;
  readonly success: number;
  readonly episodes: number;
  readonly tokensPerSecond: number;
}

export interface EvaluationPoint extends Evaluations {
  readonly step: number;
}

export const state = signal<State>('idle');
export const problem = signal<Problem | undefined>(undefined);
/** What computes, in words. */
export const computer = signal('');
export const phase = signal<
  { readonly phase: Phase; readonly done: number; readonly total: number } | undefined
>(undefined);
export const points = signal<readonly StepPoint[]>([]);
export const evaluations = signal<readonly EvaluationPoint[]>([]);
export const warnings = signal<readonly string[]>([]);
export const listed = signal<readonly ListedEpisodes[]>([]);
export const checkpointStep = signal<number | undefined>(undefined);
export const plannedSteps = signal(0);
/** Name of the run: another one for each start, so that nothing of an earlier run is shown. */
export const runName = signal('');
export const seconds = signal(0);
export const parameters = signal(0);
export const isBusy = computed(() => ['starting', 'running', 'stopping'].includes(state.value));

const keptPlaces = 14;
/** How long a worker may take to stop by itself. */
const patienceMs = 5000;

let worker: Worker | undefined;
let began = 0;
let clock: ReturnType<typeof setInterval> | undefined;
let asked = 0;
let runs = 0;
const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (problem: Problem) => void }>();

function endWorker(): void {
  worker?.terminate();
  worker = undefined;
  const gone = { code: 'worker-gone', message: 'The run of this tab has ended, and its episodes with it.' };
  for (const { reject } of waiting.values()) reject(gone);
  waiting.clear();
}

export function start(request: StartRequest): void {
  endWorker();
  runs++;
  state.value = 'starting';
  problem.value = undefined;
  computer.value = '';
  phase.value = undefined;
  points.value = [];
  evaluations.value = [];
  warnings.value = [];
  listed.value = [];
  checkpointStep.value = undefined;
  plannedSteps.value = request.steps;
  runName.value = `${request.world}-browser-${runs}`;
  began = performance.now();
  seconds.value = 0;
  clearInterval(clock);
  clock = setInterval(() => {
    seconds.value = (performance.now() - began) / 1000;
  }, 500);
  const mine = new Worker(workerAddress(), { type: 'module', name: 'turnwise' });
  worker = mine;
  mine.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (worker === mine) receive(data);
  };
  mine.onerror = ({ message }) => {
    if (worker === mine)
      end('failed', { code: 'worker-failed', message: message || 'The worker did not start.' });
  };
  tell({ type: 'start', ...request });
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(text: string): string },
  ): { createScriptURL(text: string): object };
}

/** The policy of the page wants to know who names a worker's script; this is the one name that it allows. */
const trusted = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  'turnwise',
  {
    createScriptURL: (text) => text,
  },
);

function workerAddress(): URL {
  const address = new URL('worker.js', document.baseURI);
  return trusted ? (trusted.createScriptURL(address.href) as URL) : address;
}

/** At once: between two calls of the runtime. Code that does not return is ended with its worker. */
export function stop(): void {
  if (!isBusy.value || state.value === 'stopping') return;
  const mine = worker;
  state.value = 'stopping';
  tell({ type: 'stop' });
  setTimeout(() => {
    if (worker !== mine || !isBusy.value) return;
    endWorker();
    checkpointStep.value = undefined;
    listed.value = [];
    end('stopped', {
      code: 'worker-ended',
      message: 'The code did not return, so its thread was ended, and what it had learned with it.',
    });
  }, patienceMs);
}

const tell = (message: ToWorker): void => worker?.postMessage(message);

export function ask(question: Ask): Promise<unknown> {
  if (worker === undefined)
    return Promise.reject({ code: 'worker-gone', message: 'No run goes on in this tab.' } satisfies Problem);
  const id = asked++;
  tell({ type: 'ask', id, ask: question });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

answerWith((path) => (path.startsWith('/api/runs/') ? ask({ kind: 'view', path }) : undefined));

function end(how: State, why?: Problem): void {
  clearInterval(clock);
  seconds.value = (performance.now() - began) / 1000;
  state.value = how;
  phase.value = undefined;
  problem.value = why;
}

function receive(message: FromWorker): void {
  switch (message.type) {
    case 'computes': {
      const { provider, threads, note } = message;
      const threaded = threads === 1 ? 'one thread' : `${threads} threads`;
      computer.value = `${provider === 'webgpu' ? 'WebGPU' : `WebAssembly, ${threaded}`}${note ? `. ${note}` : ''}`;
      return;
    }
    case 'event':
      happened(message.event);
      return;
    case 'episodes':
      listed.value = thinned([...listed.value, message.listed]);
      return;
    case 'checkpoint':
      checkpointStep.value = message.step;
      return;
    case 'ended':
      end(message.how, message.how === 'failed' ? message.problem : undefined);
      return;
    case 'answer': {
      const asker = waiting.get(message.id);
      waiting.delete(message.id);
      if ('problem' in message) asker?.reject(message.problem);
      else asker?.resolve(message.value);
    }
  }
}

/** The places that are listed: evaluations, and of the steps the latest and some before. */
function thinned(all: readonly ListedEpisodes[]): readonly ListedEpisodes[] {
  const training = all.filter(({ label }) => label === 'training');
  const last = training.at(-1)?.step ?? 0;
  let every = 1;
  const isKept = ({ step }: ListedEpisodes): boolean => step === last || step % every === 0;
  while (training.filter(isKept).length > keptPlaces - 2) every *= 2;
  return all.filter((one) => one.label !== 'training' || isKept(one));
}

function happened(event: RunEvent): void {
  if (state.value === 'starting') state.value = 'running';
  switch (event.type) {
    case 'start':
      parameters.value = event.parameters ?? 0;
      return;
    case 'phase':
      phase.value = { phase: event.phase, done: 0, total: event.steps ?? 0 };
      return;
    case 'progress':
      if (event.phase !== 'train') phase.value = event;
      return;
    case 'clone':
      phase.value = { phase: 'clone', done: event.step, total: event.steps };
      return;
    case 'step':
      phase.value = { phase: 'train', done: event.step, total: event.steps };
      points.value = [
        ...points.value,
        {
          step: event.step,
          success: event.metrics['reward/success'] ?? Number.NaN,
          episodes: event.spent.episodes,
          tokensPerSecond: event.metrics['speed/sample_tokens_per_s'] ?? Number.NaN,
        },
      ];
      return;
    case 'evaluation':
      evaluations.value = [...evaluations.value, event];
      return;
    case 'warning':
      warnings.value = [...new Set([...warnings.value, event.message])].slice(-5);
  }
}
