/** `turnwise play`: a person plays, or watches a trained agent play. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { visible } from '../../core/visible.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { playableTask, taskOf } from '../../env/tasks/split.ts';
import type { World } from '../../env/world.ts';
import { collectGroups } from '../../rollout/collect.ts';
import {
  createWorld,
  environmentHelp,
  environmentNames,
  findEnvironment,
} from '../../run/load/environments.ts';
import { otherWorld } from '../../run/load/run-world.ts';
import { CODE } from '../../run/load/world-source.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
import { version } from '../../run/version.ts';
import { painter } from '../../show/console.ts';
import { formatScore } from '../../show/format.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { playOptions } from '../../train/kit/learner.ts';
import { type Command, defineCommand, type Invocation } from '../command.ts';
import { narratedPolicy } from '../terminal/live-episode.ts';
import { askInput, playAsPerson } from '../terminal/person-play.ts';

const options = z.strictObject({
  run: z.string().optional().describe('Watch the agent of this run instead of playing'),
  step: z.int().min(0).optional().describe('Which checkpoint to watch; default: the last'),
  greedy: z.boolean().default(false).describe('Watch the likeliest actions instead of sampled ones'),
  task: z.int().min(0).default(0).describe('Number of the task'),
  split: z.enum(['train', 'validation', 'test']).default('test').describe('Which tasks'),
  episodes: z.int().min(1).default(1).describe('Episodes, one task after the other'),
  pause: z.int().min(0).default(600).describe('Milliseconds between the turns of a watched agent'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  set: z.array(z.string()).default([]).describe('Set an option of the environment; may be repeated'),
});

export const playCommand: Command<typeof options> = defineCommand({
  name: 'play',
  summary: 'Play an environment yourself, or watch a trained agent play it',
  arguments: [{ name: 'environment', description: environmentHelp, required: true }],
  options,
  settings: async (given) => {
    const name = given.find((word) => environmentNames.includes(word));
    return name === undefined ? undefined : (await findEnvironment(name)).options;
  },
  examples: [
    'turnwise play frozen-lake',
    'turnwise play frozen-lake --run frozen-lake-rloo-1 --episodes 3',
    'turnwise play frozen-lake --run frozen-lake-rloo-1 --step 0',
  ],
  async run(invocation) {
    const factory = await findEnvironment(invocation.arguments.environment!);
    if (invocation.options.run === undefined) {
      await person(createWorld(factory, invocation.options.set), invocation);
    } else {
      await watch(factory, invocation.options.run, invocation);
    }
  },
});

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

async function watch(
  factory: WorldFactory,
  name: string,
  { options, console, interrupts }: PlayInvocation,
): Promise<void> {
  const { runs: root, step, greedy, split, episodes, task: first, pause } = options;
  // Refused before anything is opened; where a program made the world of the run, the one that is named stands in for it.
  const trained = RunDirectory.openForReading({ root, name, version }).readConfig(z.unknown()).world;
  const { name: environment } = trained;
  if (factory.name !== environment) throw otherWorld({ root, name }, trained, factory.name);
  const learner = await openCheckpoint({
    root,
    name,
    ...(step !== undefined && { step }),
    ...(trained.source === CODE && { world: factory }),
    signal: interrupts.signal,
  });
  const paint = painter(console.colour);
  try {
    const usual = playOptions(learner, interrupts.signal);
    for (let task = first; task < first + episodes; task++) {
      console.write(
        `\n${paint('bold', `${environment}, ${split} task ${task}`)} ${paint('dim', `played by ${name}`)}\n`,
      );
      const groups = await collectGroups(
        [{ step: 0, group: task, split, index: task, ...taskOf(learner.world, split, task), members: 1 }],
        {
          ...usual,
          policy: narratedPolicy(usual.policy, console, console.interactive ? pause : 0),
          sampling: { ...usual.sampling, temperature: greedy ? 0 : usual.sampling.temperature },
        },
      );
      for (const { role, success, outcome, stop, episode, turns } of roleGroups(groups).flatMap(
        (group) => group.members,
      )) {
        const { failure } = episode;
        const several = learner.world.roles.length > 1;
        const mark = success ? paint('green', '✓ solved') : paint('red', '✗ not solved');
        const reason =
          stop === 'done' ? '' : `, ${stop}${failure === undefined ? '' : `: ${visible(failure)}`}`;
        const head = several ? `${role}: ` : `${mark}, `;
        console.write(`\n  ${head}return ${formatScore(outcome)}, ${turns.length} turns${reason}\n`);
      }
    }
  } finally {
    await learner.close();
  }
}
