/** `turnwise play`: a person plays, or watches a trained agent play. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { visible } from '../../core/visible.ts';
import type { Agent } from '../../env/agent.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { playableTask, taskOf } from '../../env/tasks/split.ts';
import { optionsForReaders } from '../../env/wording.ts';
import type { World } from '../../env/world.ts';
import { type CollectOptions, collectGroups } from '../../rollout/collect.ts';
import {
  createWorld,
  environmentHelp,
  environmentNames,
  findEnvironment,
} from '../../run/load/environments.ts';
import { otherWorld } from '../../run/load/run-world.ts';
import { CODE } from '../../run/load/world-source.ts';
import { openBlackBox, openTeacher } from '../../run/model/black-box.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
import { version } from '../../run/version.ts';
import { painter } from '../../show/console.ts';
import { formatScore } from '../../show/format.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { evaluationOptions } from '../../train/kit/learner.ts';
import { type Command, defineCommand, type Invocation } from '../command.ts';
import { commandAgentOptions, namedWorld } from '../command-agent-options.ts';
import { latestRunOf } from '../latest-run.ts';
import { narratedCalls } from '../terminal/live-agent.ts';
import { narratedPolicy } from '../terminal/live-episode.ts';
import { askInput, playAsPerson } from '../terminal/person-play.ts';

const options = z.strictObject({
  run: z.string().optional().describe('Watch the policy of this run instead of playing'),
  policy: z
    .string()
    .optional()
    .describe('Watch a model elsewhere: openai:URL or vllm:URL, with #MODEL; key in OPENAI_API_KEY'),
  step: z.int().min(0).optional().describe('Which checkpoint to watch; default: the last'),
  greedy: z.boolean().default(false).describe('Watch the likeliest actions instead of sampled ones'),
  task: z.int().min(0).default(0).describe('Number of the task'),
  split: z.enum(['train', 'validation', 'test']).default('test').describe('Which tasks'),
  episodes: z.int().min(1).default(1).describe('Episodes, one task after the other'),
  pause: z.int().min(0).default(600).describe('Milliseconds between the turns of a watched agent'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  timeoutMs: z.int().min(1).default(60_000).describe('Deadline of a step, with --policy'),
  ...commandAgentOptions,
  tasks: z.string().optional().describe('With --command: the file of tasks'),
  set: z.array(z.string()).default([]).describe('Set an option of the environment; may be repeated'),
});

export const playCommand: Command<typeof options> = defineCommand({
  name: 'play',
  summary: 'Play an environment yourself, or watch a policy play it; watch an agent at work',
  arguments: [{ name: 'environment', description: environmentHelp, required: false }],
  options,
  settings: async (given) => {
    const name = given.find((word) => environmentNames.includes(word));
    return name === undefined ? undefined : (await findEnvironment(name)).options;
  },
  examples: [
    'turnwise play frozen-lake',
    'turnwise play frozen-lake --run frozen-lake-rloo-1 --episodes 3',
    'turnwise play frozen-lake --run frozen-lake-rloo-1 --step 0',
    'turnwise play ./agent.ts    (its latest run, or its teacher)',
    'turnwise play ./agent.ts --policy openai:http://localhost:8000/v1#qwen3-8b',
  ],
  async run(invocation) {
    const { arguments: given, options } = invocation;
    const named = namedWorld(playCommand, given.environment, options);
    const factory = await findEnvironment(named.name);
    if (options.run !== undefined) return watchRun(factory, options.run, invocation);
    const own = options.policy === undefined ? {} : optionsForReaders(factory.options);
    const world = createWorld(factory, [...named.assignments, ...options.set], own);
    if (options.policy !== undefined) return watchElsewhere(world, options.policy, invocation);
    if (!isAgentWorld(world)) return person(world, invocation);
    const latest = latestRunOf(factory, world, options.runs);
    return latest === undefined ? watchTeacher(world, invocation) : watchRun(factory, latest, invocation);
  },
});

const isAgentWorld = (world: World): world is World & { readonly agent: Agent } => world.agent !== undefined;

function formOf({ name, format }: World['protocol']): string {
  if (name === 'raw') return 'Type an action';
  return `Type an action as ${name === 'calls' ? '<call> TOOL ARGUMENT: VALUE' : format('ACTION')}`;
}

type PlayInvocation = Invocation<z.output<typeof options>>;

async function person(world: World, { options, console, interrupts }: PlayInvocation): Promise<void> {
  const { split, episodes, task: first } = options;
  const { ask, close } = askInput(interrupts.signal);
  const paint = painter(console.colour);
  const form = formOf(world.protocol);
  console.write(
    `${paint('bold', world.name)}  ${world.description}\n${paint('dim', `${form}, ? to let the expert move, Ctrl-D to leave.`)}\n`,
  );
  try {
    for (let task = first; task < first + episodes; task++) {
      const finished = await playAsPerson(
        world,
        playableTask(world, split, task),
        task,
        ask,
        console,
        interrupts.signal,
      );
      if (!finished) break;
    }
    console.write('\n');
  } finally {
    close();
  }
  if (interrupts.signal.aborted) throw new TurnwiseError('interrupted', { what: 'Interrupted' });
}

async function watchRun(factory: WorldFactory, name: string, invocation: PlayInvocation): Promise<void> {
  const { options, interrupts } = invocation;
  const { runs: root, step, greedy } = options;
  // Refused before anything is opened; where a program made the world of the run, the one that is named stands in for it.
  const trained = RunDirectory.openForReading({ root, name, version }).readConfig(z.unknown()).world;
  if (factory.name !== trained.name) throw otherWorld({ root, name }, trained, factory.name);
  const learner = await openCheckpoint({
    root,
    name,
    ...(step !== undefined && { step }),
    ...(trained.source === CODE && { world: factory }),
    signal: interrupts.signal,
  });
  try {
    const usual = evaluationOptions(learner, interrupts.signal);
    const temperature = greedy ? 0 : usual.sampling.temperature;
    await watch({ ...usual, sampling: { ...usual.sampling, temperature } }, name, invocation);
  } finally {
    await learner.close();
  }
}

async function watchElsewhere(world: World, policy: string, invocation: PlayInvocation): Promise<void> {
  const { timeoutMs } = invocation.options;
  const { signal } = invocation.interrupts;
  const { options, by, close } = await openBlackBox(world, policy, { concurrency: 1, timeoutMs, signal });
  try {
    await watch(options, by, invocation);
  } finally {
    await close();
  }
}

async function watchTeacher(
  world: World & { readonly agent: Agent },
  invocation: PlayInvocation,
): Promise<void> {
  const { timeoutMs } = invocation.options;
  const teacher = await openTeacher(world, { timeoutMs, signal: invocation.interrupts.signal });
  if (teacher === undefined) throw nobodyPlays(world, invocation.options.runs);
  try {
    await watch(teacher.options, teacher.by, invocation);
  } finally {
    await teacher.close();
  }
}

/** Tasks one after the other, each turn or call written as it happens. */
async function watch(
  usual: CollectOptions,
  by: string,
  { options, console, interrupts }: PlayInvocation,
): Promise<void> {
  const { split, episodes, task: first, pause } = options;
  const { world } = usual;
  const paint = painter(console.colour);
  const pauseMs = console.interactive ? pause : 0;
  const narrated = world.agent
    ? { onCall: narratedCalls(console, { pauseMs, signal: interrupts.signal }) }
    : { policy: narratedPolicy(usual.policy, console, pauseMs) };
  for (let task = first; task < first + episodes; task++) {
    console.write(
      `\n${paint('bold', `${world.name}, ${split} task ${task}`)} ${paint('dim', `played by ${visible(by)}`)}\n`,
    );
    const groups = await collectGroups(
      [{ step: 0, group: task, split, index: task, ...taskOf(world, split, task), members: 1 }],
      { ...usual, ...narrated },
    );
    for (const { role, success, outcome, stop, episode, turns } of roleGroups(groups).flatMap(
      (group) => group.members,
    )) {
      const { failure } = episode;
      const several = world.roles.length > 1;
      const mark = success ? paint('green', '✓ solved') : paint('red', '✗ not solved');
      const reason =
        stop === 'done' ? '' : `, ${stop}${failure === undefined ? '' : `: ${visible(failure)}`}`;
      const head = several ? `${role}: ` : `${mark}, `;
      console.write(`\n  ${head}return ${formatScore(outcome)}, ${turns.length} turns${reason}\n`);
    }
  }
}

function nobodyPlays({ name }: World, runs: string): TurnwiseError {
  return new TurnwiseError('policy-missing', {
    what: `Nobody plays the agent ${name}: its own code asks a model, and there is none`,
    seen: `no --run, no --policy, no run of it in ${runs}, no demonstrate()`,
    allowed: 'one of them',
    next: 'Train it with: turnwise train, or add --policy openai:URL#MODEL',
    fields: { environment: name },
  });
}
