/** What recipes say that they read is what their runs read: all that can be set, and nothing else that changes them. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import { chain } from '../../../bench/methods/environments/chain.ts';
import { duet } from '../../../bench/methods/environments/duet.ts';
import { WORDS } from '../../../bench/methods/environments/words.ts';
import type { Episode, Group } from '../../core/episode.ts';
import { Rng } from '../../core/rng.ts';
import type { BatchRow } from '../../engine/engine.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import type { World } from '../../env/world.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { unwatched } from '../../rollout/watch.ts';
import { keptOf, recordedGroups } from '../../run/data/recorded-episodes.ts';
import { demonstrate } from '../../synth/demonstrations.ts';
import { fakeEngine } from '../../testing/fake-engine.ts';
import { designModel } from '../design/design-model.ts';
import { Archive } from '../kit/archive.ts';
import { createLearner } from '../kit/learner.ts';
import { train } from '../loop/loop.ts';
import { initialState } from '../loop/state.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { recipes } from '../recipes/recipes.ts';
import { type TrainConfig, type TrainSettings, trainConfigSchema } from './config.ts';
import { mergeSettings } from './merge.ts';
import { resolveConfig } from './resolve.ts';
import { choicesIn, leavesOf, readBy, runSchema } from './run-schema.ts';

/** Read where models are made, environments loaded and folders written, before and around what runs here. */
const ELSEWHERE =
  /^(start|engine|threads|data|environment|tinker\..*|chat\..*|lora\..*|model\..*|checkpoint\.keep|optimizer\.tokenBudget|clone\.(demonstrations|beginnerShare|randomRate|from)|objective\.valueBins\..*|teacher|rewardModel\..*)$/;

/** What these read elsewhere than in so short a run: GTR takes no step in it, and SPEAR remembers something in every step. */
const UNTRIED: Readonly<Record<string, RegExp>> = { gtr: /^optimizer\./, 'spear-sil': /^rolloutLog$/ };

/** Everything that is off by default, on, as far as a recipe has it. */
const everythingOn: TrainSettings = {
  seed: 1,
  steps: 3,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 16, steps: 1, batch: 4, randomRate: 0.5 },
  budget: { tokens: 1_000_000, minutes: 100 },
  rollout: { tasks: 4, group: 4, minimumMembers: 1 },
  tasks: { name: 'revisit', share: 0.5 },
  curation: { 'dynamic-sampling': { rounds: 1 } },
  replay: { size: 40, updates: 1, batch: 8 },
  critic: { updates: 1, warmupSteps: 1 },
  objective: {
    entropyCoefficient: 0.1,
    entropySmoothing: 0.5,
    klCoefficient: 0.1,
    valueWarmup: 1,
    aggregation: 'sequence-sum-constant',
  },
  evaluation: { every: 2, tasks: 2, finalTasks: 2 },
};

function worldOf({ needs }: Recipe): World {
  if (needs?.severalRoles) return duet();
  const environment = chain({ doors: 2, turns: 4, words: 2 });
  return fromEnvironment(
    needs?.corrector
      ? {
          ...environment,
          correctThought: (_state: unknown, _thought: string, rng: Rng) => rng.pick(WORDS.slice(0, 2)),
        }
      : environment,
  );
}

function configOf(recipe: Recipe, more: TrainSettings): TrainConfig {
  const settings = mergeSettings(everythingOn, more) as TrainSettings;
  return resolveConfig({
    recipe,
    environmentOptions: z.strictObject({}),
    settings: readBy(recipe, settings),
  });
}

/** The configuration, with every leaf that is asked for noted. */
function watched(config: TrainConfig, read: Set<string>): TrainConfig {
  const around = (value: object, path: string): object =>
    new Proxy(value, {
      get(target, name) {
        const inner: unknown = Reflect.get(target, name);
        if (typeof name !== 'string') return inner;
        const key = path === '' ? name : `${path}.${name}`;
        read.add(key);
        return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
          ? around(inner, key)
          : inner;
      },
    });
  return around(config, '') as TrainConfig;
}

/** A run on an engine without weights, and all that the engine was asked in it. */
async function runOf(recipe: Recipe, given: TrainConfig, config = given): Promise<string[]> {
  const asked: string[] = [];
  const world = worldOf(recipe);
  const { signal } = new AbortController();
  const demonstrations = await demonstrate(world, {
    ...{ demonstrations: 16, beginnerShare: 0.5, randomRate: 0.8, seed: 1, maxTurns: world.maxTurns },
    ...{ turnTimeoutMs: 5000, exchanges: false, signal, watch: unwatched },
  });
  const card = designModel(demonstrations, config, recipe, world);
  const renderer = wordRenderer(new WordTokenizer(card.words), card.maxActionWords);
  // Where thoughts are corrected, a thought goes before the action.
  const said = (rng: Rng): string =>
    recipe.needs?.corrector ? `${WORDS[0]} ${rng.pick(WORDS.slice(0, 2))}` : rng.pick(WORDS.slice(0, 2));
  const note = (...parts: unknown[]): void => {
    asked.push(
      JSON.stringify(parts, (_, value: unknown) =>
        ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value,
      ),
    );
  };
  const numbers = (rows: readonly BatchRow[], from: number): Float32Array[] =>
    rows.map(({ ids_T }) => Float32Array.from(ids_T, (id, t) => from + ((id * 7 + t) % 5) / 10));
  const engineNamed = (name: string) =>
    fakeEngine({
      sample: async ({ seed, sampling, conversation }) => {
        note(name, 'sample', conversation, sampling);
        const ids = Int32Array.from(renderer.completionIds(said(Rng.of(seed))).slice(0, sampling.maxTokens));
        return { ids, logprobs: new Float32Array(ids.length).fill(-1), finish: 'stop', version: 1 };
      },
      score: async ({ rows }, options) => {
        const top = options.top ?? 0;
        return {
          ...(top > 0 && {
            top: rows.map(({ ids_T }) => ({
              ids: new Int32Array(ids_T.length * top),
              logprobs: new Float32Array(ids_T.length * top).fill(-1),
            })),
          }),
          logprobs: numbers(rows, -1.5),
          values: numbers(rows, 0.1),
          entropies: numbers(rows, 0.5),
          heads: Object.fromEntries(
            (options.heads ?? []).map((head, index) => [head, numbers(rows, index / 10)]),
          ),
        };
      },
      forwardBackward: async ({ rows }, { key }, options) => {
        note(name, 'learn', key, rows, options);
        const tokens = rows.reduce((sum, { ids_T }) => sum + ids_T.length, 0);
        return { loss: 0, metrics: {}, tokens, paddedTokens: tokens };
      },
      optimStep: async (options) => {
        note(name, 'step', options);
        return { gradientNorm: 1, applied: true };
      },
      freeze: async (rate) => {
        if (rate !== undefined) note(name, 'freeze', rate);
      },
    });
  const archive = new Archive(async () => []);
  const learner = createLearner({
    ...{ config, recipe, world, card, renderer, watch: unwatched, archive },
    engine: { ...engineNamed('policy'), capabilities: { ...fakeEngine().capabilities, contextLength: 400 } },
    ...(recipe.criticHeads && { critic: engineNamed('critic') }),
    ...(recipe.needs?.teacher && { teacher: engineNamed('teacher') }),
  });
  const found = { groups: given.data === '' ? [] : [oneGroup(demonstrations)], exact: new Set<Episode>() };
  const { groups: recorded } = await recordedGroups(learner, found);
  archive.add(recorded);
  const kept = keptOf(recorded);
  await train(
    learner,
    initialState,
    { imitate: { demonstrations }, recorded: kept },
    {
      event: () => {},
      progress: () => {},
      rollouts: async (step) => note('kept', step),
      evaluation: async () => {},
      checkpoint: async (step) => note('checkpoint', step),
      now: () => 0,
      goOn: '',
      signal,
      stopRequested: () => false,
    },
  );
  return asked;
}

/** Episodes of one task, so that there are some to compare. */
function oneGroup(groups: readonly Group[]): Group {
  const members = groups.flatMap((group) => group.members);
  return {
    ...groups[0]!,
    members: members.map((episode, member) => ({ ...episode, key: { ...episode.key, group: 0, member } })),
  };
}

/** Another value that the schema takes. */
function otherThan(key: string, value: unknown): unknown {
  const schema = schemaAt(key);
  if (key === 'credit.method') return value === 'grpo' ? 'rloo' : 'grpo';
  if (key === 'objective.name') return value === 'cispo' ? 'gspo' : 'cispo';
  if (key === 'context.name') return 'latest';
  if (key === 'tasks.name') return 'uniform';
  if (key === 'turns.name') return 'until-void';
  if (key === 'prompts.name') return 'population';
  const candidates =
    typeof value === 'number'
      ? [value + 1, value / 2, value / 2 + 0.1, 0.3]
      : ['k2', 'latest', 'cosine', 'cispo', 'token-mean', 'mask'];
  return candidates.find((other) => other !== value && schema.safeParse(other).success);
}

function schemaAt(key: string): z.ZodType {
  return key.split('.').reduce<z.ZodType>((schema, name) => {
    let inner: unknown = schema;
    while (!(inner instanceof z.ZodObject)) inner = (inner as z.ZodDefault).unwrap();
    return inner.shape[name] as z.ZodType;
  }, trainConfigSchema);
}

const valueAt = (config: object, key: string): unknown =>
  key.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], config);

const nested = (key: string, value: unknown): Record<string, unknown> =>
  key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<string, unknown>;

const cases = recipes.flatMap((recipe) => {
  const both = recipe.learnsFrom === 'either' ? ['', 'demonstrations'] : [recipe.settings.data ?? ''];
  return both.map((data) => [`${recipe.name}${data && ` from ${data}`}`, recipe, { data }] as const);
});

test.each(cases)(
  '%s reads all that can be set, and what cannot be set changes nothing',
  async (_, recipe, more) => {
    const config = configOf(recipe, more);
    const schema = runSchema(recipe, choicesIn(recipe.settings, more));
    const accepted = leavesOf(schema).filter((key) => !ELSEWHERE.test(key));
    const read = new Set<string>();
    const plain = await runOf(recipe, config, watched(config, read));
    expect(accepted.filter((key) => !read.has(key) && !UNTRIED[recipe.name]?.test(key))).toEqual([]);

    const refused = leavesOf(trainConfigSchema).filter((key) => !leavesOf(schema).includes(key));
    const isTaken = (key: string): boolean => {
      const other = otherThan(key, valueAt(config, key));
      return other !== undefined && schema.safeParse(nested(key, other)).success;
    };
    expect(refused.filter(isTaken)).toEqual([]);
    const changed = refused.reduce<TrainConfig>((all, key) => {
      const other = otherThan(key, valueAt(all, key));
      return other === undefined ? all : (mergeSettings(all, nested(key, other)) as TrainConfig);
    }, config);
    expect(await runOf(recipe, changed)).toEqual(plain);
  },
);
