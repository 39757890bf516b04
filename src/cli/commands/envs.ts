/** `turnwise envs`: the built-in environments, and what one of them is like. */

import { z } from 'zod';
import { Rng } from '../../core/rng.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { measurePlayer, type PlayerMeans } from '../../env/play.ts';
import type { World } from '../../env/world.ts';
import {
  createWorld,
  environmentNames,
  findEnvironment,
  loadEnvironments,
} from '../../run/load/environments.ts';
import { sourceOf, typedSource } from '../../run/load/world-source.ts';
import { schemaFields } from '../../run/settings/schema-fields.ts';
import { type Console, painter, wrap } from '../../show/console.ts';
import { type Episode, episodeText } from '../../show/episode-text.ts';
import { table } from '../../show/table.ts';
import { type Command, defineCommand } from '../command.ts';
import { settingLines } from '../help.ts';
import { exampleEpisode } from '../terminal/example-episode.ts';

const options = z.strictObject({
  task: z.int().min(0).default(0).describe('Which training task the example plays'),
  player: z
    .enum(['expert', 'beginner', 'random'])
    .default('expert')
    .describe('Scripted player of the example'),
  measure: z
    .int()
    .min(0)
    .default(0)
    .describe('Play this number of test tasks with each scripted player, and show the means'),
  set: z.array(z.string()).default([]).describe('Set an option of the environment; may be repeated'),
  json: z.boolean().default(false).describe('Print JSON'),
});

export const envsCommand: Command<typeof options> = defineCommand({
  name: 'envs',
  summary: 'List the environments, or describe one with an example episode',
  arguments: [{ name: 'environment', description: 'Describe this one', required: false }],
  options,
  settings: async (given) => {
    const name = given.find((word) => environmentNames.includes(word));
    return name === undefined ? undefined : (await findEnvironment(name)).options;
  },
  examples: [
    'turnwise envs',
    'turnwise envs maze',
    'turnwise envs frozen-lake --set slip=0.3 --player beginner',
    'turnwise envs frozen-lake --measure 500',
  ],
  async run({ arguments: { environment }, options, console, interrupts }) {
    const { task, player, measure, set, json } = options;
    if (environment === undefined) return listEnvironments(await loadEnvironments(), console, json);
    const factory = await findEnvironment(environment);
    const world = createWorld(factory, set);
    if (world.pure) interrupts.release();
    if (measure > 0) return showMeans(await scriptedMeans(world, measure), console, json);
    const episode = await exampleEpisode(world, world.tasks('train').at(task), 1, player);
    if (json) console.write(`${JSON.stringify(describe(factory, world, episode))}\n`);
    else console.write(`${description(factory, world, episode, player, console)}\n`);
  },
});

function listEnvironments(environments: readonly WorldFactory[], console: Console, json: boolean): void {
  if (json) {
    const list = environments.map(({ name, description }) => ({ name, description }));
    console.write(`${JSON.stringify(list)}\n`);
    return;
  }
  const paint = painter(console.colour);
  const width = Math.max(...environments.map(({ name }) => name.length));
  const rows = environments.flatMap(({ name, description }) =>
    wrap(description, console.columns - width - 4).map((line, index) => [
      index === 0 ? paint('cyan', name) : '',
      line,
    ]),
  );
  const lines = table([{ title: 'environment' }, { title: '' }], rows, paint);
  console.write(`${lines.join('\n')}\n\n${paint('dim', 'More about one:')} turnwise envs frozen-lake\n`);
}

type ScriptedMeans = readonly (PlayerMeans & { readonly player: string })[];

/** Of the players that the world has. */
async function scriptedMeans(world: World, episodes: number): Promise<ScriptedMeans> {
  const means: (PlayerMeans & { player: string })[] = [];
  for (const player of ['expert', 'beginner', 'random'] as const) {
    const session = await world.open(world.tasks('test').at(0), Rng.of('world', 0));
    const plays = (await world.script?.(session, player, Rng.of('player', 0))) !== undefined;
    await session.close();
    if (plays) means.push({ player, ...(await measurePlayer(world, player, episodes)) });
  }
  return means;
}

function showMeans(means: ScriptedMeans, console: Console, json: boolean): void {
  if (json) {
    console.write(`${JSON.stringify(means)}\n`);
    return;
  }
  const columns = ['solved', 'return', 'turns'].map((title) => ({ title, align: 'right' as const }));
  const rows = means.map(({ player, success, outcome, turns }) => [
    player,
    success.toFixed(3),
    outcome.toFixed(3),
    turns.toFixed(2),
  ]);
  console.write(`${table([{ title: 'player' }, ...columns], rows, painter(console.colour)).join('\n')}\n`);
}

function describe(factory: WorldFactory, world: World, episode: Episode | undefined): object {
  return {
    name: factory.name,
    description: factory.description,
    roles: world.roles,
    facts: world.facts ?? [],
    maxTurns: world.maxTurns,
    protocol: world.protocol.name,
    tasks: sizes(world),
    options: schemaFields(factory.options),
    example: episode ?? null,
  };
}

/** Numbers of tasks by split; null is endlessly many, since JSON has no infinity. */
function sizes(world: World): Record<string, number | null> {
  return Object.fromEntries(
    (['train', 'validation', 'test'] as const).map((split) => {
      const { size } = world.tasks(split);
      return [split, Number.isFinite(size) ? size : null];
    }),
  );
}

function description(
  factory: WorldFactory,
  world: World,
  episode: Episode | undefined,
  player: string,
  screen: Console,
): string {
  const paint = painter(screen.colour);
  const counts = Object.entries(sizes(world)).map(([split, size]) => `${size ?? 'endless'} ${split}`);
  const facts: [string, string][] = [
    ['turns', `at most ${world.maxTurns}`],
    ['tasks', counts.join(', ')],
    ['actions', protocolNames[world.protocol.name]],
    ...(world.roles.length > 1 ? [['roles', world.roles.join(', ')] as [string, string]] : []),
    ...(world.facts?.length ? [['facts', world.facts.join(', ')] as [string, string]] : []),
  ];
  const fields = schemaFields(factory.options);
  return [
    paint('bold', factory.name),
    ...wrap(factory.description, screen.columns),
    '',
    ...facts.flatMap(([label, text]) =>
      wrap(text, screen.columns - 11).map(
        (line, index) => `  ${paint('dim', (index === 0 ? label : '').padEnd(9))}${line}`,
      ),
    ),
    ...(fields.length > 0
      ? [
          '',
          paint('bold', 'Options') +
            paint('dim', '  --set key=value here, --set environment.key=value in a run'),
        ]
      : []),
    ...settingLines(factory.options, screen),
    '',
    ...(episode
      ? [
          paint('bold', `One episode of the ${player}`),
          ...episodeText(episode, {
            ...screen,
            columns: screen.columns,
            colour: screen.colour,
            turns: 12,
            linesPerMessage: 12,
          }),
        ]
      : [paint('dim', `There is no scripted ${player} for this environment.`)]),
    '',
    paint('bold', 'Next'),
    `  turnwise train ${typedSource(sourceOf(factory))}`,
    `  turnwise play ${typedSource(sourceOf(factory))}`,
  ].join('\n');
}

const protocolNames: Readonly<Record<World['protocol']['name'], string>> = {
  raw: 'the text as it is',
  tags: 'text between <action> and </action>',
  tools: 'tool calls',
  calls: 'tool calls in words: <call> NAME ARGUMENT: VALUE',
};
