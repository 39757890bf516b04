/**
 * The runs of a study as ordinary `turnwise train` commands: for each world, way to demonstrate and seed one warm start, then each arm from it. A run
 * is named by a hash of everything that decides it, so that comparisons share what they have in common.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { canonicalJson, type JsonObject } from '../core/json/json.ts';
import { isPath } from '../core/reference.ts';
import type { World } from '../env/world.ts';
import { isFile } from '../model/checkpoint/checkpoint.ts';
import { namesRecorded } from '../run/data/recorded-data.ts';
import { runtime } from '../run/model/runtime-version.ts';
import { prepareRun } from '../run/prepare-run.ts';
import { readSettings } from '../run/settings/run-settings.ts';
import { type Catalogue, openTurns } from '../train/config/catalogue.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { shownByStages, usualTurns } from '../train/design/demonstrated-ways.ts';
import { longestTurns } from '../train/design/model-room.ts';
import { moduleHash } from './module-hash.ts';
import { type Cell, folderName, type Study, type StudyWorld } from './study.ts';

/** One process: the warm start of a seed, or a run that begins with it. */
export interface Job {
  /** Name of its run. */
  readonly name: string;
  readonly kind: 'start' | 'run';
  readonly world: string;
  readonly arm: string;
  readonly recipe: string;
  readonly seed: number;
  /** Its learning rate, where that is not the arm's own. */
  readonly rate?: number;
  /** What follows `turnwise`, `--json` aside. */
  readonly words: readonly string[];
  readonly config: TrainConfig;
  /** The job that must be finished first. */
  readonly after?: string;
}

/** What of a study is run: tuning runs evaluate on validation tasks, and have rates of their own. */
export interface JobChoice {
  readonly seeds: readonly number[];
  readonly split?: 'test' | 'validation';
  /** Learning rates of an arm in a world; undefined is the arm's own. Default: only that. */
  readonly rates?: (world: StudyWorld, cell: Cell) => readonly (number | undefined)[];
}

/** Seed by seed, so that complete pairs come first. Equal arms, and a rate that is the arm's own, are one run under one name. */
export function jobsOf(study: Study, choice: JobChoice): readonly Job[] {
  const { seeds, split = 'test', rates = () => [undefined] } = choice;
  const onSplit = split === 'test' ? [] : [`evaluation.split=${split}`];
  const worlds = study.worlds.map((world) => {
    const startHash = moduleHash(world.source);
    const hashes = new Map(
      world.cells.map((cell) => [
        cell,
        cell.files.length === 0 ? startHash : moduleHash(world.source, cell.files),
      ]),
    );
    const starters = new Map(world.cells.map((cell) => [cell, starterOf(cell, world.cells)]));
    const recorded = new Map(world.cells.map((cell) => [cell, recordedFacts(cell.run.config.data)]));
    return { world, hashes, starters, startHash, recorded };
  });
  return seeds.flatMap((seed) =>
    worlds.flatMap(({ world, hashes, starters, startHash, recorded }) => {
      const starts = new Map(
        [...new Set(starters.values())].map((cell) => {
          const code = isOwnFile(cell) ? hashes.get(cell)! : startHash;
          const read = { code, ...recorded.get(cell) };
          return [cell, jobOf(study, world, cell, read, 'start', seed, [...onSplit, 'steps=0'])];
        }),
      );
      return [
        ...starts.values(),
        ...world.cells.flatMap((cell) =>
          rates(world, cell).map((rate) => {
            const start = starts.get(starters.get(cell)!)!;
            const own = rate === undefined ? [] : [`optimizer.learningRate=${rate}`];
            const settings = [...onSplit, ...own, `start=${start.name}`];
            const read = { code: hashes.get(cell)!, ...recorded.get(cell) };
            const job = jobOf(study, world, cell, read, 'run', seed, settings);
            return { ...job, after: start.name, ...(rate !== undefined && { rate }) };
          }),
        ),
      ];
    }),
  );
}

/**
 * The cell whose settings the warm start of another has: one of the same context and turn control, under which demonstrations are played.
 * A critic can begin with weights that were trained without one, not the other way round.
 */
function starterOf(cell: Cell, cells: readonly Cell[]): Cell {
  const alike = cells.filter((other) => demonstratedIn(other) === demonstratedIn(cell));
  return alike.find(({ run }) => !run.recipe.critic) ?? alike[0]!;
}

function demonstratedIn({ run: { world, config, catalogue } }: Cell): string {
  // What a context asks for is imitated, whether it will be trained or not.
  const { trained: _, ...context } = config.context;
  return canonicalJson({ context: context as JsonObject, ...turnFacts(config, world, catalogue) });
}

/** Whether what demonstrations are played under is in a file. */
function isOwnFile({ run: { world, config, catalogue } }: Cell): boolean {
  const isDemonstrated = turnFacts(config, world, catalogue).turns !== undefined;
  return isPath(config.context.name) || (isDemonstrated && isPath(config.turns.name));
}

/**
 * What of turn controls and stages decides a warm start and how it is measured: what is read or written under them, and how long
 * episodes become. Nothing where they leave both as they are.
 */
function turnFacts(config: TrainConfig, world: World, catalogue: Catalogue): JsonObject {
  const { turns, evaluation } = config;
  const usual = usualTurns(config, world);
  const control = openTurns(turns, catalogue);
  const speaks = control.demonstrated || control.says(usual).length > 0;
  const limits = longestTurns(config, world, catalogue);
  const longest = Math.max(limits.usual, limits.longest);
  const stages = shownByStages(config, world, catalogue);
  return {
    ...(speaks && { turns: turns as JsonObject }),
    ...(speaks && evaluation.turnControl && { turnControl: true }),
    ...(longest > usual && { longest }),
    ...(stages.length > 0 && { stages }),
  };
}

function jobOf(
  study: Study,
  world: StudyWorld,
  cell: Cell,
  read: FilesRead,
  kind: Job['kind'],
  seed: number,
  own: readonly string[],
): Job {
  const { recipe, catalogue } = cell.run;
  const { factory } = world;
  const assignments = [...cell.assignments, ...own, `seed=${seed}`];
  const settings = readSettings(factory, recipe, assignments, catalogue);
  const { config, world: prepared } = prepareRun(factory, recipe, settings, catalogue);
  const facts = {
    ...read,
    runtime,
    world: world.source,
    recipe: recipe.name,
    config: config as unknown as JsonObject,
  };
  const what = kind === 'start' ? 'start' : recipe.name;
  const deciding =
    kind === 'start' ? { ...startFacts(facts), ...turnFacts(config, prepared, catalogue) } : facts;
  const hash = createHash('sha256').update(canonicalJson(deciding));
  const name = `${folderName(world.name)}-${what}-${seed}-${hash.digest('hex').slice(0, 10)}`;
  const words = ['train', world.source, '--recipe', cell.arm.source, '--name', name, '--runs', study.store];
  return {
    name,
    kind,
    world: world.name,
    arm: cell.arm.name,
    recipe: recipe.name,
    seed,
    words: [...words, ...assignments.flatMap((assignment) => ['--set', assignment])],
    config,
  };
}

/** What a run reads: its modules, and recorded episodes, a file by what is in it and a run by its name. */
interface FilesRead {
  readonly code: string;
  readonly recorded?: string;
}

function recordedFacts(data: string): Pick<FilesRead, 'recorded'> {
  if (!namesRecorded(data)) return {};
  return { recorded: isFile(data) ? createHash('sha256').update(readFileSync(data)).digest('hex') : data };
}

/** What decides a warm start: nothing that only later steps read. */
function startFacts({
  code,
  runtime,
  world,
  config,
  recorded,
}: FilesRead & {
  readonly runtime: string;
  readonly world: string;
  readonly config: JsonObject;
}): JsonObject {
  const {
    seed,
    threads,
    engine,
    tinker,
    environment,
    model,
    lora,
    chat,
    context,
    players,
    seats,
    clone,
    rollout,
    evaluation,
  } = config;
  const { maxTurns, exchangeEvery } = rollout as JsonObject;
  const { split, finalTasks } = evaluation as JsonObject;
  return {
    ...(recorded !== undefined && { recorded }),
    ...{ code, runtime, world, seed: seed!, threads: threads!, engine: engine!, tinker: tinker! },
    ...{
      environment: environment!,
      model: model!,
      lora: lora!,
      chat: chat!,
      context: context!,
      players: players!,
      seats: seats!,
      clone: clone!,
    },
    ...{ maxTurns: maxTurns!, exchangeEvery: exchangeEvery!, split: split!, finalTasks: finalTasks! },
  };
}
