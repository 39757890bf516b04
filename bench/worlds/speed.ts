/**
 * Steps a second of every built-in environment on one core, in turns with the Python originals where there are some, and with a
 * reducer that does nothing. What was seen is kept in bench/worlds/speed.json; docs/environment-figures.md is written from it.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Json } from '../../src/core/json/json.ts';
import { Rng } from '../../src/core/rng.ts';
import { defineEnvironment } from '../../src/env/environment.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { playEpisode } from '../../src/env/play.ts';
import type { World } from '../../src/env/world.ts';
import { environmentNames, findEnvironment } from '../../src/run/load/environments.ts';
import { median } from '../engine/sampling.ts';
import { scripted } from './scripted.ts';

const repository = new URL('../../../', import.meta.url).pathname;
export const speedFile = 'bench/worlds/speed.json';

/** What bench/worlds/originals.py knows under these names. */
const ORIGINALS: Readonly<Record<string, readonly string[]>> = {
  'frozen-lake': ['gymnasium FrozenLake-v1'],
  taxi: ['gymnasium Taxi-v4'],
  missions: ['minigrid BabyAI-GoToLocal-v0'],
  'kuhn-poker': ['open-spiel kuhn_poker'],
  leduc: ['open-spiel leduc_poker'],
  'liars-dice': ['open-spiel liars_dice'],
  tictactoe: ['pettingzoo tictactoe_v3', 'open-spiel tic_tac_toe'],
  chess: ['pettingzoo chess_v6'],
  'connect-four': ['pettingzoo connect_four_v3', 'open-spiel connect_four'],
  'mini-hanabi': ['open-spiel hanabi'],
  'guess-number': ['textarena GuessTheNumber-v0'],
  mastermind: ['textarena Mastermind-v0'],
  sokoban: ['textarena Sokoban-v0'],
  negotiation: ['textarena SimpleNegotiation-v0'],
  'text-nav': ['textworld'],
  household: ['textworld'],
  'science-lab': ['scienceworld'],
};

/** Seconds of processor time of a measurement, and measurements of each side, which take turns. */
const SECONDS = 0.1;
const PAIRS = 3;
const EPISODES = 20;
const LONGEST = 60;
const SCRIPTED_EPISODES = 100;

const meansSchema = z.object({ success: z.number(), outcome: z.number(), turns: z.number() });
const figuresSchema = z.object({
  environment: z.string(),
  roles: z.array(z.string()),
  /** Of the test split; null where they have no end. */
  testTasks: z.number().nullable(),
  scripted: z.partialRecord(z.enum(['random', 'beginner', 'expert']), meansSchema),
  stepsPerSecond: z.number(),
  /** Steps a second, over those of a reducer that does nothing. */
  ofNothing: z.number(),
  originals: z.array(
    z.object({ name: z.string(), version: z.string(), stepsPerSecond: z.number(), ratio: z.number() }),
  ),
});
const speedSchema = z.object({ machine: z.string(), environments: z.array(figuresSchema) });

export type EnvironmentFigures = z.output<typeof figuresSchema>;
export type SpeedResult = z.output<typeof speedSchema>;

const answerSchema = z.union([
  z.object({ package: z.string(), version: z.string(), steps: z.number(), seconds: z.number() }),
  z.object({ error: z.string() }),
]);
type Answer = z.output<typeof answerSchema>;

export function readSpeed(root: string): SpeedResult {
  return speedSchema.parse(JSON.parse(readFileSync(join(root, speedFile), 'utf8')));
}

/** Measures the named environments, or all, and keeps what was seen of others. */
export async function benchSpeed(names: readonly string[]): Promise<object> {
  const python = new Originals();
  const known = new Map<string, EnvironmentFigures>();
  try {
    for (const one of readSpeed(repository).environments) known.set(one.environment, one);
  } catch {
    // The first run has nothing to keep.
  }
  for (const name of names.length > 0 ? names : environmentNames) {
    known.set(name, await figuresOf(name, python));
    const environments = environmentNames.flatMap((one) => known.get(one) ?? []);
    const machine = `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, Node ${process.version}`;
    const result: SpeedResult = { machine, environments };
    writeFileSync(join(repository, speedFile), `${JSON.stringify(result, null, 2)}\n`);
    process.stderr.write(`${name}: ${told(known.get(name)!)}\n`);
  }
  await python.close();
  return { environments: known.size, missing: python.missing };
}

const told = ({ stepsPerSecond, ofNothing, originals }: EnvironmentFigures): string =>
  [
    `${stepsPerSecond} steps/s, ${ofNothing} of nothing`,
    ...originals.map(({ name, ratio }) => `${ratio} × ${name}`),
  ].join(', ');

async function figuresOf(name: string, python: Originals): Promise<EnvironmentFigures> {
  const factory = await findEnvironment(name);
  const world = factory.create(factory.options.parse({}));
  const own = await recorded(world);
  const empty = await recorded(nothing);
  const rates: number[] = [];
  const shares: number[] = [];
  const ratios = new Map<string, { version: string; theirs: number[]; ratio: number[] }>();
  for (let pair = 0; pair < PAIRS; pair++) {
    const rate = await stepsPerSecond(world, own);
    rates.push(rate);
    shares.push(rate / (await stepsPerSecond(nothing, empty)));
    for (const original of ORIGINALS[name] ?? []) {
      const answer = await python.ask(original);
      if ('error' in answer) continue;
      const theirs = answer.steps / answer.seconds;
      const so = ratios.get(original) ?? { version: answer.version, theirs: [], ratio: [] };
      so.theirs.push(theirs);
      so.ratio.push(rate / theirs);
      ratios.set(original, so);
    }
  }
  const { size } = world.tasks('test');
  return {
    environment: name,
    roles: [...world.roles],
    testTasks: Number.isFinite(size) ? size : null,
    scripted: await scripted(world, SCRIPTED_EPISODES),
    stepsPerSecond: rounded(median(rates)),
    ofNothing: rounded(median(shares)),
    originals: [...ratios].map(([original, { version, theirs, ratio }]) => ({
      ...{ name: original, version },
      stepsPerSecond: rounded(median(theirs)),
      ratio: rounded(median(ratio)),
    })),
  };
}

/** Three significant digits. */
const rounded = (value: number): number => Number(value.toPrecision(3));

const nothing = fromEnvironment(
  defineEnvironment<number, number>({
    name: 'nothing',
    description: 'Does nothing.',
    maxTurns: LONGEST,
    tasks: [0],
    start: (state) => ({ state, messages: [{ role: 'user', content: 'on' }] }),
    step: (state) => ({ state, observation: 'on', reward: 0, done: false, valid: true }),
    actions: () => ['on'],
  }),
);

interface Recorded {
  readonly task: Json;
  readonly seed: number;
  readonly actions: readonly string[];
}

/** Episodes of the random player. */
async function recorded(world: World): Promise<readonly Recorded[]> {
  const tasks = world.tasks('train');
  const episodes: Recorded[] = [];
  for (let seed = 0; seed < EPISODES; seed++) {
    const task = tasks.at(seed % tasks.size);
    const { turns } = await playEpisode(world, task, seed, 'random');
    episodes.push({ task, seed, actions: turns.slice(0, LONGEST).map(({ action }) => action) });
  }
  return episodes;
}

/** The same episodes again: only steps are timed, each with what the next role to move reads. All are opened before the clock is read. */
async function stepsPerSecond(world: World, episodes: readonly Recorded[]): Promise<number> {
  const { signal } = new AbortController();
  let [steps, micros] = [0, 0];
  while (micros < 1e6 * SECONDS) {
    const open = await Promise.all(
      episodes.map(async ({ task, seed, actions }) => ({
        session: await world.open(task, Rng.of('world', seed)),
        actions,
      })),
    );
    const begun = process.cpuUsage();
    for (const { session, actions } of open) {
      for (const action of actions) {
        await session.step(action, signal);
        session.observe(session.toMove() ?? world.roles[0]!);
      }
    }
    const { user, system } = process.cpuUsage(begun);
    micros += user + system;
    for (const { session, actions } of open) {
      steps += actions.length;
      await session.close();
    }
  }
  return (1e6 * steps) / micros;
}

/** bench/worlds/originals.py, in the Python that the variable PYTHON names. */
class Originals {
  readonly missing: Record<string, string> = {};
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    const script = join(repository, 'bench/worlds/originals.py');
    this.#child = spawn(process.env.PYTHON ?? 'python3', [script], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  async ask(original: string): Promise<Answer> {
    if (original in this.missing) return { error: this.missing[original]! };
    this.#child.stdin!.write(`${JSON.stringify({ original, seconds: SECONDS })}\n`);
    const { value, done } = await this.#lines.next();
    const answer: Answer = done ? { error: 'Python ended' } : answerSchema.parse(JSON.parse(value));
    if ('error' in answer) this.missing[original] = answer.error;
    return answer;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.stdin!.end();
    await once(this.#child, 'exit');
  }
}
