/** `turnwise eval`: measure a checkpoint, or a model elsewhere, on test tasks. */

import { z } from 'zod';
import type { Split } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { visible } from '../../core/visible.ts';
import { tasksOf } from '../../env/tasks/split.ts';
import { type EvaluationResult, evaluate } from '../../eval/evaluate.ts';
import { type CollectOptions, failuresOf, type Play } from '../../rollout/collect.ts';
import { runEpisode } from '../../rollout/episode.ts';
import { scoreGroups } from '../../rollout/score-groups.ts';
import { EpisodeRecording } from '../../run/data/recording.ts';
import { estimate, spentText } from '../../server/gateway/spend.ts';
import { painter, wrap } from '../../show/console.ts';
import { environmentMetricLines } from '../../show/environment-metrics.ts';
import { formatInterval } from '../../show/format.ts';
import { table } from '../../show/table.ts';
import type { ProgressEvent } from '../../train/loop/events.ts';
import { type Command, defineCommand } from '../command.ts';
import { commandAgentOptions, namedWorld } from '../command-agent-options.ts';
import { blackBoxPlayer, type Player, trainedPlayer } from '../measured-player.ts';
import { meterOf, spendOptions } from '../spend-options.ts';
import { runDisplay } from '../terminal/terminal.ts';
import { type AskedSearch, askedSearch, searchOptions } from './eval-search.ts';

const options = z.strictObject({
  ...commandAgentOptions,
  tasks: z
    .string()
    .optional()
    .describe(
      'Number of tasks, 500 by default; fewer where there are fewer. With --command: the file of tasks',
    ),
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
  constrained: z
    .boolean()
    .default(false)
    .describe('Hold tool calls and JSON answers of a pretrained model to their schemas'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  ...searchOptions,
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
      required: false,
    },
  ],
  options,
  examples: [
    'turnwise eval frozen-lake-rloo-1',
    'turnwise eval frozen-lake-rloo-1 --tasks 2000 --split validation',
    'turnwise eval frozen-lake-ppo-1 --search best-of-turns --width 4',
    'turnwise eval ./agent.ts --policy openai:http://localhost:8000/v1#qwen3-8b --tasks 100',
  ],
  async run({
    arguments: { run: named },
    options: { policy, record, concurrency, timeoutMs, step, runs: root, json, ...given },
    console,
    interrupts,
  }) {
    const { command } = given;
    const wanted = command === undefined ? taskCount(given.tasks) : undefined;
    const file = command === undefined ? undefined : given.tasks;
    const { name, assignments } = namedWorld(evalCommand, named, { ...given, tasks: file });
    if (command !== undefined && policy === undefined) throw commandWithoutPolicy(command);
    const meter = meterOf(given);
    const signal = AbortSignal.any([interrupts.signal, meter.limited]);
    const split = given.split ?? (policy !== undefined && record !== undefined ? 'train' : 'test');
    const player = policy
      ? await blackBoxPlayer(name, assignments, policy, { concurrency, timeoutMs, signal, meter })
      : await trainedPlayer(name, root, step, signal, meter);
    if (given.constrained) await requireSchemas(player);
    const search = await searchOf(player, given, record);
    const tasks = wanted ?? (await tasksOfFile(player, split));
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
    const play = async (label: string, temperature: number, by?: AskedSearch): Promise<EvaluationResult> => {
      const options = player.options();
      const { result, groups } = await evaluate({
        ...options,
        ...recordedBy(recording, options, label),
        split,
        tasks,
        step: step ?? 0,
        sampling: { temperature, topP: 1, topK: 0 },
        constrained: given.constrained,
        ...(by && { search: by.search }),
        onEpisode: progress,
      });
      const episodes = groups.flatMap(({ members }) => members);
      for (const [failure, count] of failuresOf(episodes)) {
        failures.set(failure, (failures.get(failure) ?? 0) + count);
      }
      if (result.episodes === 0) throw nothingMeasured(player.name, failures);
      return result;
    };
    try {
      if (policy !== undefined && !json) {
        const most = tasks * (player.ways.length + (search?.times ?? 0)) * player.options().maxTurns;
        console.writeError(`${estimate(most, meter.limits)}.\n`);
      }
      display.show({ type: 'phase', phase: 'evaluate' });
      const results: { readonly label: string; readonly result: EvaluationResult }[] = [];
      for (const [label, temperature] of player.ways) {
        results.push({ label, result: await play(label, temperature) });
      }
      if (search)
        results.push({ label: 'searched', result: await play('searched', player.ways[0]![1], search) });
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
          `${JSON.stringify({ run: player.name, split, ...byLabel, ...(search && { search: search.facts }), ...(spent.calls > 0 && { spent }) })}\n`,
        );
        return;
      }
      const someFailed = results.some(({ result }) => result.successOfAll !== undefined);
      const rows = results.map(({ label, result }) => [
        label,
        formatInterval(result.success, result.successInterval, 3),
        ...(someFailed ? [(result.successOfAll ?? result.success).toFixed(3)] : []),
        formatInterval(result.return, result.returnInterval, 3),
        result.turns.toFixed(1),
        ...(search ? [(result.searched ?? result.turns).toFixed(1)] : []),
        ...(search ? [] : [String(result.episodes)]),
      ]);
      const columns = [
        { title: '' },
        { title: 'success (95% interval)' },
        ...(someFailed ? [{ title: 'of all' }] : []),
        { title: 'return (95% interval)' },
        { title: 'turns', align: 'right' },
        ...(search ? [{ title: 'played', align: 'right' } as const] : []),
        ...(search ? [] : [{ title: 'tasks', align: 'right' } as const]),
      ] as const;
      const paint = painter(console.colour);
      console.write(`${table(columns, rows, paint).join('\n')}\n`);
      if (search) {
        const said = `${results[0]?.result.episodes ?? 0} tasks. ${search.sentence}.`;
        console.write(
          `\n${wrap(said, Math.min(console.columns, 80)).join('\n')}\nplayed: all steps played for a task\n`,
        );
      }
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

const DEFAULT_TASKS = 500;

/** @throws TurnwiseError `option-value` */
function taskCount(given: string | undefined): number {
  if (given === undefined) return DEFAULT_TASKS;
  if (/^[1-9]\d*$/.test(given)) return Number(given);
  throw new TurnwiseError('option-value', {
    what: 'The value of --tasks is not allowed',
    seen: given,
    allowed: 'a whole number from 1; with --command, a file of tasks',
    fields: { option: '--tasks' },
  });
}

/** The search that is asked for. What is refused leaves no player open. */
async function searchOf(
  player: Player,
  given: Parameters<typeof askedSearch>[0],
  record: string | undefined,
): Promise<AskedSearch | undefined> {
  try {
    const { search, width, episodes } = given;
    return askedSearch({ search, width, episodes }, player.options().world, player.valuesOf, record);
  } catch (error) {
    await player.close();
    throw error;
  }
}

/** A file of tasks says itself how many there are. */
async function tasksOfFile(player: Player, split: Split): Promise<number> {
  try {
    return Math.min(DEFAULT_TASKS, tasksOf(player.options().world, split).size);
  } catch (error) {
    await player.close();
    throw error;
  }
}

function commandWithoutPolicy(command: string): TurnwiseError {
  return new TurnwiseError('policy-missing', {
    what: 'A command-line agent is measured with a model elsewhere, or by the name of a run that trained it',
    seen: `--command ${command} without --policy`,
    next: 'Add --policy openai:URL#MODEL, or write: turnwise eval RUN',
  });
}

/**
 * Plays only what is not recorded yet, and records what is played, each episode when it ends: with its score, since what is
 * in the file is not scored again.
 */
function recordedBy(
  recording: EpisodeRecording | undefined,
  options: CollectOptions,
  label: string,
): Pick<Parameters<typeof evaluate>[0], 'play' | 'onEnded' | 'scored'> {
  if (recording === undefined) return {};
  const { play = runEpisode } = options;
  const scored: Play = async (request, own) => {
    const { step, group } = request.key;
    const played = { step, group, members: [await play(request, own)] };
    const [judged] = await scoreGroups([played], options);
    return judged!.members[0]!;
  };
  return {
    scored: true,
    play: recording.playing(scored, label),
    onEnded: (episode) => recording.keep(episode, label),
  };
}

/** What cannot be held to a schema is refused, and not measured as if it were. */
async function requireSchemas({ name, constrains, close }: Player): Promise<void> {
  if (constrains) return;
  await close();
  throw new TurnwiseError('option-value', {
    what: '--constrained holds pretrained models of the embedded engine to schemas',
    seen: name,
    next: 'Leave it out',
    fields: { option: 'constrained' },
  });
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
