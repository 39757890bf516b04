/** `turnwise eval`: measure a checkpoint, or a model elsewhere, on test tasks. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { visible } from '../../core/visible.ts';
import { optionsForReaders } from '../../env/wording.ts';
import { type EvaluationResult, evaluate } from '../../eval/evaluate.ts';
import { type CollectOptions, failuresOf } from '../../rollout/collect.ts';
import { runEpisode } from '../../rollout/episode.ts';
import { EpisodeRecording, type RecordingOptions } from '../../run/data/recording.ts';
import { createWorld, environmentNames, findEnvironment } from '../../run/load/environments.ts';
import { isAddress, isPath, isSameWorld, runWorldOf, sourceKind } from '../../run/load/world-source.ts';
import { openBlackBox, runsHere } from '../../run/model/black-box.ts';
import { tokenizerOfCard } from '../../run/model/tokenizer-hash.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
import { estimate, spentText } from '../../server/gateway/spend.ts';
import { painter } from '../../show/console.ts';
import { environmentMetricLines } from '../../show/environment-metrics.ts';
import { formatInterval } from '../../show/format.ts';
import { table } from '../../show/table.ts';
import type { RunWorld } from '../../store/run-file.ts';
import { latestRun, runNames } from '../../store/runs.ts';
import { playOptions } from '../../train/kit/learner.ts';
import type { ProgressEvent } from '../../train/loop/events.ts';
import { type Command, defineCommand } from '../command.ts';
import { meterOf, spendOptions } from '../spend-options.ts';
import { runDisplay } from '../terminal/terminal.ts';

const options = z.strictObject({
  tasks: z.int().min(1).default(500).describe('Number of tasks; fewer where there are fewer'),
  split: z
    .enum(['train', 'validation', 'test'])
    .optional()
    .describe('Which tasks; default: test, and train where --policy is recorded to be learned from'),
  policy: z
    .string()
    .optional()
    .describe('A model elsewhere: openai:URL or vllm:URL, with #MODEL; key in OPENAI_API_KEY'),
  record: z
    .string()
    .optional()
    .describe(
      'Dataset file to which episodes are appended as they end; those that it has are not played again',
    ),
  concurrency: z.int().min(1).default(16).describe('Episodes at once, with --policy'),
  timeoutMs: z.int().min(1).default(20_000).describe('Deadline of a step of the environment, with --policy'),
  step: z.int().min(0).optional().describe('Which checkpoint; default: the last'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  ...spendOptions,
  json: z.boolean().default(false).describe('Print JSON'),
});

export const evalCommand: Command<typeof options> = defineCommand({
  name: 'eval',
  summary: 'Measure a trained agent on test tasks, sampled and greedy',
  arguments: [
    {
      name: 'run',
      description: 'Name of the run; or a file or environment, for its latest run or with --policy',
      required: true,
    },
  ],
  options,
  examples: [
    'turnwise eval frozen-lake-rloo-1',
    'turnwise eval frozen-lake-rloo-1 --tasks 2000 --split validation',
    'turnwise eval ./agent.ts --policy openai:http://localhost:8000/v1#qwen3-8b --tasks 100',
  ],
  async run({
    arguments: { run: name },
    options: { policy, record, concurrency, timeoutMs, tasks, step, runs: root, json, ...given },
    console,
    interrupts,
  }) {
    const meter = meterOf(given);
    const signal = AbortSignal.any([interrupts.signal, meter.limited]);
    const split = given.split ?? (policy !== undefined && record !== undefined ? 'train' : 'test');
    const player = policy
      ? await blackBoxPlayer(name!, policy, { concurrency, timeoutMs, signal, meter })
      : await trainedPlayer(name!, root, step, signal);
    const display = runDisplay(console, { json, now: () => performance.now() });
    const progress = (done: number, total: number): void => {
      const event: ProgressEvent = {
        type: 'progress',
        phase: 'evaluate',
        done,
        total,
        waitingFor: 'episodes',
      };
      display.show(event);
    };
    const failures = new Map<string, number>();
    const recording =
      record === undefined ? undefined : new EpisodeRecording({ file: record, ...player.recorded });
    const play = async (label: string, temperature: number): Promise<EvaluationResult> => {
      const options = player.options();
      const { result, groups } = await evaluate({
        ...options,
        ...recordedBy(recording, options, label),
        split,
        tasks,
        step: step ?? 0,
        sampling: { temperature, topP: 1, topK: 0 },
        onEpisode: progress,
      });
      const episodes = groups.flatMap(({ members }) => members);
      // What a comparison of the group adds is known only now.
      if (recording && options.world.scoreGroup)
        for (const episode of episodes) recording.keep(episode, label);
      for (const [failure, count] of failuresOf(episodes)) {
        failures.set(failure, (failures.get(failure) ?? 0) + count);
      }
      if (result.episodes === 0) throw nothingMeasured(player.name, failures);
      return result;
    };
    try {
      if (policy !== undefined && !json) {
        const most = tasks * player.ways.length * player.options().maxTurns;
        console.writeError(`${estimate(most, meter.limits)}.\n`);
      }
      display.show({ type: 'phase', phase: 'evaluate' });
      const results: { readonly label: string; readonly result: EvaluationResult }[] = [];
      for (const [label, temperature] of player.ways) {
        results.push({ label, result: await play(label, temperature) });
      }
      display.close();
      const { spent } = meter;
      if (spent.calls > 0 && !json) console.writeError(`${spentText(spent)}.\n`);
      for (const [failure, count] of failures) {
        console.writeError(`warning: ${count} × ${visible(failure)} (left out)\n`);
      }
      if (recording && recording.resumed > 0) {
        console.writeError(
          `${recording.resumed} episodes were in ${record} already and are counted as they are.\n`,
        );
      }
      if (json) {
        const byLabel = Object.fromEntries(results.map(({ label, result }) => [label, result]));
        console.write(
          `${JSON.stringify({ run: player.name, split, ...byLabel, ...(spent.calls > 0 && { spent }) })}\n`,
        );
        return;
      }
      const rows = results.map(({ label, result }) => [
        label,
        formatInterval(result.success, result.successInterval, 3),
        formatInterval(result.return, result.returnInterval, 3),
        result.turns.toFixed(1),
        String(result.episodes),
      ]);
      const columns = [
        { title: '' },
        { title: 'success (95% interval)' },
        { title: 'return (95% interval)' },
        { title: 'turns', align: 'right' },
        { title: 'tasks', align: 'right' },
      ] as const;
      const paint = painter(console.colour);
      console.write(`${table(columns, rows, paint).join('\n')}\n`);
      const told = environmentMetricLines(
        results.map(({ label, result }) => ({ ...result, label })),
        paint,
      );
      if (told.length > 0) console.write(`\n${told.join('\n')}\n`);
    } catch (error) {
      // Episodes under way were dropped because of it.
      if (meter.limited.aborted) throw meter.limited.reason;
      throw error;
    } finally {
      display.close();
      await player.close();
    }
  },
});

/** Plays only what is not recorded yet, and records what is played, each episode when it ends. */
function recordedBy(
  recording: EpisodeRecording | undefined,
  { world, play = runEpisode }: CollectOptions,
  label: string,
): Pick<CollectOptions, 'play' | 'onEnded'> {
  if (recording === undefined) return {};
  return {
    play: recording.playing(play, label),
    ...(!world.scoreGroup && { onEnded: (episode) => recording.keep(episode, label) }),
  };
}

/** Failed episodes say nothing of whoever plays: without others there is no figure. */
function nothingMeasured(name: string, failures: ReadonlyMap<string, number>): TurnwiseError {
  const [commonest] = [...failures].sort(([, a], [, b]) => b - a);
  return new TurnwiseError('nothing-measured', {
    what: `No episode of ${name} came to an end that counts`,
    seen: commonest ? `${commonest[1]} × ${commonest[0]}` : 'no episodes',
    next: 'Remove the cause, then measure again',
    fields: { name },
  });
}

/** Something that can be measured. */
interface Player {
  readonly name: string;
  /** What is measured, with its temperature. */
  readonly ways: readonly (readonly [label: string, temperature: number])[];
  options(): CollectOptions;
  /** What its recorded episodes say of it. */
  readonly recorded: Omit<RecordingOptions, 'file'>;
  close(): Promise<void>;
}

const SAMPLED_AND_GREEDY = [
  ['sampled', 1],
  ['greedy', 0],
] as const;

async function trainedPlayer(
  name: string,
  root: string,
  step: number | undefined,
  signal: AbortSignal,
): Promise<Player> {
  const run = isWorld(name, root) ? await latestRunOf(name, root) : name;
  const learner = await openCheckpoint({
    root,
    name: run,
    ...(step !== undefined && { step }),
    signal,
  });
  return {
    name: run,
    ways: SAMPLED_AND_GREEDY,
    options: () => playOptions(learner, signal),
    recorded: {
      world: learner.world,
      by: `${run}@${learner.checkpointStep}`,
      run,
      tokenizer: tokenizerOfCard(learner.card),
    },
    close: () => learner.close(),
  };
}

/** A run may have the name of a built-in world. */
function isWorld(name: string, root: string): boolean {
  if (isPath(name) || isAddress(name)) return true;
  return environmentNames.includes(name) && !runNames(root).includes(name);
}

/** What is served somewhere may be gone, and what was made in code is: such runs are asked for by name. */
function isFound(known: RunWorld, wanted: RunWorld): boolean {
  if (known.source === wanted.source) return isSameWorld(known, wanted);
  const kinds = [known, wanted].map(({ source }) => sourceKind(source));
  return !kinds.includes('address') && sourceKind(known.source) !== 'code' && isSameWorld(known, wanted);
}

async function latestRunOf(place: string, root: string): Promise<string> {
  const factory = await findEnvironment(place);
  const world = createWorld(factory, []);
  const wanted = runWorldOf(factory, world);
  const run = latestRun(root, (known) => isFound(known, wanted));
  if (run === undefined) throw runsHere(world, place);
  return run;
}

async function blackBoxPlayer(
  name: string,
  policy: string,
  limits: Parameters<typeof openBlackBox>[2],
): Promise<Player> {
  const factory = await findEnvironment(name);
  const world = createWorld(factory, [], optionsForReaders(factory.options));
  const { options, by, close } = await openBlackBox(world, policy, limits);
  return {
    name: world.name,
    // An agent asks for its own temperature.
    ways: world.agent ? [['as asked', 1]] : SAMPLED_AND_GREEDY,
    options: () => ({ ...options }),
    recorded: { world, by },
    close,
  };
}
