/** Where the loop of a run reports to: its files, and whoever watches. */

import { mkdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { z } from 'zod';
import type { Json } from '../core/json/json.ts';
import type { StrayErrors } from '../rollout/node/stray-errors.ts';
import type { SpendMeter } from '../server/gateway/spend.ts';
import type { RolloutWriter } from '../store/rollouts/rollout-writer.ts';
import type { RunDirectory } from '../store/run-directory.ts';
import { commandIn } from '../store/runs.ts';
import type { Learner } from '../train/kit/learner.ts';
import type { ProgressEvent, RunEvent, StoredEvent } from '../train/loop/events.ts';
import type { RunIo } from '../train/loop/loop.ts';
import type { Probe } from '../train/loop/probe.ts';
import { type EngineWatch, identityOf, type ModelSearch } from './model/run-model.ts';
import type { CheckpointState } from './run-checkpoint.ts';
import { criticFolder, playerFolder } from './run-folders.ts';
import type { RunEnd, Sink } from './sinks/sink.ts';
import { SinkSet } from './sinks/sink-set.ts';

export interface RunControl extends Pick<ModelSearch, 'onDownload'> {
  /** The folder that holds all runs. */
  readonly root: string;
  /** Everything that happens, as it happens. */
  readonly report: (event: RunEvent, run: RunDirectory) => void;
  /** Aborted: drop everything at once. */
  readonly signal: AbortSignal;
  /** Asked after every step: stop where everything is kept? */
  readonly stopRequested: () => boolean;
  /** Counts calls to models elsewhere: beyond its limit the run stops after the step, where everything is kept. */
  readonly spend?: SpendMeter;
  /** Get every stored event. */
  readonly sinks?: readonly Sink[];
  /** Watch the learner beside the run's own. */
  readonly probes?: readonly Probe[];
  /** Called when the run is open: its first event is stored. */
  readonly onOpen?: (run: RunDirectory) => void;
  /** Errors of user code that nobody awaited: a warning before the event of the step in which they came. */
  readonly strays?: StrayErrors;
}

/** Progress in tokens is told no more often. */
const TOKENS_EVERY_MS = 250;

/** Says that a server lets us wait, and why: it is no part of the run's history. */
export function waitingReport({ report }: RunControl, run: RunDirectory): EngineWatch {
  return { onWait: (message) => report({ type: 'warning', code: 'engine-waiting', message }, run) };
}

/** To be closed when the run has ended, however that went. */
export interface OpenIo extends RunIo {
  readonly writer: RolloutWriter;
  close(): Promise<void>;
}

/**
 * @param kept step of the checkpoint from which the run goes on; 0 for a new one
 * @param ignored how many calls of an agent had a parameter that changed nothing, by its name, so far
 */
export async function openIo(
  control: RunControl,
  run: RunDirectory,
  { engine, critic, others, card, config, world, recipe, processed }: Learner,
  kept: number,
  ignored: () => Readonly<Record<string, number>> = () => ({}),
): Promise<OpenIo> {
  const { generation } = run.events;
  const sinks = await SinkSet.open(control.sinks ?? [], {
    run: run.name,
    folder: run.path,
    environment: world.name,
    recipe: recipe.name,
    config,
    generation,
    kept,
    past: () => run.events.kept(),
  });
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  const tell = (event: StoredEvent): void => {
    const stored = run.events.append(event);
    control.report(event, run);
    sinks.event(stored);
  };
  /** After the end of a run nothing is stored. */
  const tellOfSinks = (tellOne: (event: StoredEvent) => void): void => {
    for (const message of sinks.takeFailures()) tellOne({ type: 'warning', code: 'sink-failed', message });
  };
  let latest: ProgressEvent | undefined;
  let toldAt = 0;
  const tellTokens = (): void => {
    const now = performance.now();
    if (latest === undefined || now - toldAt < TOKENS_EVERY_MS) return;
    toldAt = now;
    control.report({ ...latest, tokens: processed.tokens }, run);
  };
  processed.onChange = tellTokens;
  let isOpen = false;
  let end: RunEnd = 'failed';
  const writer = storeOf(run, { card, config });
  let ignoredBefore = ignored();
  const withIgnored = (event: StepEvent): StepEvent => {
    const [before, now] = [ignoredBefore, ignored()];
    ignoredBefore = now;
    const since = Object.entries(now).map(([key, times]) => [key, times - (before[key] ?? 0)] as const);
    const told = since
      .filter(([, times]) => times > 0)
      .map(([key, times]) => [`gateway/ignored/${key}`, times]);
    return { ...event, metrics: { ...event.metrics, ...Object.fromEntries(told) } };
  };
  const stopRequested = (): boolean => control.stopRequested() || control.spend?.limited.aborted === true;
  return {
    writer,
    event: (event) => {
      const message = event.type === 'warning' ? undefined : control.strays?.take();
      if (message !== undefined) tell({ type: 'warning', code: 'stray-errors', message });
      tell(event.type === 'step' ? withIgnored(withSpend(withLag(event, lag), control.spend)) : event);
      if (event.type === 'finish') end = 'finished';
      tellOfSinks(event.type === 'finish' ? (warning) => control.report(warning, run) : tell);
      if (!isOpen) control.onOpen?.(run);
      isOpen = true;
    },
    close: async () => {
      lag.disable();
      const stopped = control.signal.aborted || stopRequested();
      await sinks.close(end === 'failed' && stopped ? 'stopped' : end);
      tellOfSinks((warning) => control.report(warning, run));
    },
    progress: (event) => {
      latest = event;
      control.report({ ...event, tokens: processed.tokens }, run);
    },
    rollouts: async (step, groups, credit) => {
      await writer.write(step, groups, credit);
      sinks.episodes({ step, label: 'training', groups });
    },
    evaluation: async (step, played) => {
      await run.storeEvaluation(step, played);
      for (const label of ['sampled', 'greedy'] as const) {
        sinks.episodes({ step, label, groups: played[label] });
      }
    },
    checkpoint: async (step, state) => {
      const content: CheckpointState = { state, card };
      await run.saveCheckpoint({
        step,
        identity: identityOf(card),
        keep: config.checkpoint.keep,
        state: content as unknown as Json,
        write: async (folder) => {
          await engine.save(folder);
          await critic?.save(criticFolder(folder));
          for (const other of others) {
            const own = playerFolder(folder, other.player);
            mkdirSync(own, { recursive: true });
            await other.engine.save(own);
            await other.critic?.save(criticFolder(own));
          }
        },
      });
    },
    now: () => performance.now() / 1000,
    goOn: `Remove the cause, then go on with: ${commandIn(control.root, `resume ${run.name}`)}`,
    signal: control.signal,
    stopRequested,
  };
}

/** Where a run stores its episodes, and what their tokens mean. Asked once, when the run's generation is known. */
export function storeOf(
  run: RunDirectory,
  { card, config }: Pick<Learner, 'card' | 'config'>,
): RolloutWriter {
  const { source } = run.readConfig(z.unknown()).world;
  const tokenizer = run.keepTokenizer('words' in card ? { words: card.words } : { model: card.base.folder });
  return run.storeRollouts({
    world: { source, options: config.environment as Json, version: null },
    tokenizer,
  });
}

/** Says what models elsewhere were asked so far, where any was. */
function withSpend(event: StepEvent, spend: SpendMeter | undefined): StepEvent {
  const { calls = 0, cached = 0, promptTokens = 0, completionTokens = 0, cost } = spend?.spent ?? {};
  if (calls + cached === 0) return event;
  const metrics = {
    'spend/calls': calls,
    'spend/cached': cached,
    'spend/prompt_tokens': promptTokens,
    'spend/completion_tokens': completionTokens,
    ...(cost !== undefined && { 'spend/cost': cost }),
  };
  return { ...event, metrics: { ...event.metrics, ...metrics } };
}

type StepEvent = Extract<StoredEvent, { type: 'step' }>;

function withLag(event: StepEvent, lag: ReturnType<typeof monitorEventLoopDelay>): StepEvent {
  const milliseconds = lag.percentile(99) / 1e6;
  lag.reset();
  return { ...event, metrics: { ...event.metrics, 'loop/lag_p99_ms': milliseconds } };
}
