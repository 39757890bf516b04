/**
 * Whole updates of one recipe of each family against transformers and torch in 64 bits: tools/parity/updates.py wrote down
 * episodes, first weights, and by how much every tensor has moved after each of three updates.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { world as factory } from '../envs/frozen-lake/index.ts';
import type { Episode, Group } from '../src/core/episode.ts';
import { roleGroups } from '../src/core/trajectory.ts';
import { createEmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import { saveCheckpoint } from '../src/engine/embedded/weights/checkpoint.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { Renderer } from '../src/model/chat/renderer.ts';
import { readSafetensors, type Weights } from '../src/model/checkpoint/safetensors.ts';
import type { DecoderShape } from '../src/model/decoder/decoder.ts';
import { unwatched } from '../src/rollout/watch.ts';
import type { TrainSettings } from '../src/train/config/config.ts';
import { resolveConfig } from '../src/train/config/resolve.ts';
import { criticShape, headsOf } from '../src/train/design/design-model.ts';
import { Archive } from '../src/train/kit/archive.ts';
import type { Kept } from '../src/train/kit/learn.ts';
import { createLearner } from '../src/train/kit/learner.ts';
import { initialMemory, learnStep } from '../src/train/loop/learn-step.ts';
import type { Recipe } from '../src/train/recipes/recipe.ts';
import { findRecipe } from '../src/train/recipes/recipes.ts';

interface RecordedTurn {
  readonly context: readonly number[];
  readonly extends: boolean;
  readonly ids: readonly number[];
  readonly reward: number;
  readonly logprobs: readonly number[];
}
interface RecordedEpisode {
  readonly turns: readonly RecordedTurn[];
  readonly success: boolean;
}
type Moved = Readonly<Record<'policy' | 'critic', Readonly<Record<string, string>>>>;
interface Numbers {
  readonly shape: Pick<DecoderShape, 'vocabulary' | 'width' | 'layers' | 'heads' | 'keyValueHeads'> &
    Pick<DecoderShape, 'headWidth' | 'hidden' | 'ropeTheta' | 'normEpsilon'>;
  readonly settings: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly episodes: readonly (readonly (readonly RecordedEpisode[])[])[];
  readonly start: Readonly<
    Record<string, Readonly<Record<string, { readonly shape: number[]; readonly data: string }>>>
  >;
  readonly moved: Readonly<
    Record<string, { readonly start: Readonly<Record<string, string>>; readonly steps: readonly Moved[] }>
  >;
}

const record = JSON.parse(
  readFileSync(new URL('./update-parity/record.json', import.meta.url), 'utf8'),
) as Numbers;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-update-parity-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the script has as constants, as settings of each recipe. */
function settingsOf(name: string): TrainSettings {
  const own = record.settings[name] ?? {};
  const { updates = 0, targetRate = 0, warmupSteps = 0, learningRate = 0 } = own;
  const { beta, likelihoodCoefficient, discount, expectile, conservatism } = own as Record<string, number>;
  const clip = { clipLow: 0.2, clipHigh: 0.28, dualClip: 3 } as const;
  const settings: Record<string, TrainSettings> = {
    grpo: { objective: clip },
    ppo: {
      credit: {
        method: 'gae',
        gamma: own.gamma!,
        lambda: own.lambda!,
        rewardScale: own.rewardScale!,
        whiten: true,
      },
      objective: {
        ...clip,
        valueCoefficient: own.valueCoefficient!,
        valueClip: own.valueClip!,
        valueWarmup: own.valueWarmup!,
      },
    },
    dpo: { objective: { options: { beta, likelihoodCoefficient } } },
    ilql: {
      replay: { updates, batch: 1000 },
      critic: { targetRate },
      objective: { options: { discount, expectile, conservatism } },
    },
    'archer-iql': {
      replay: { batch: 1000 },
      critic: { updates, warmupSteps, learningRate, targetRate, discount: own.discount! },
      objective: {
        options: { expectile, temperature: own.temperature, largestWeight: own.largestWeight },
      },
    },
    'sft-rl': { replay: { batch: 1000 }, objective: { ...clip, options: own } },
  };
  return settings[name]!;
}

const renderer: Renderer = {
  stopIds: [0],
  maxTurnTokens: 3,
  pieces: (said) => said,
  ids: () => [],
  completionIds: () => [],
  text: (ids) => Array.from(ids).join(' '),
  answer: (text) => text,
  read: (text) => ({ content: text, toolCalls: [] }),
};

function episodeOf(
  step: number,
  group: number,
  member: number,
  { turns, success }: RecordedEpisode,
): Episode {
  const outcome = turns.reduce((sum, { reward }) => sum + reward, 0);
  return {
    key: { step, environment: 'recorded', split: 'train', task: group, group, member },
    task: null,
    calls: turns.map((turn, k) => ({
      id: k,
      conversation: 'agent',
      ...(k > 0 && (turn.extends ? { parent: k - 1 } : { newPath: 'window' as const })),
      role: 'agent',
      by: { kind: 'policy', name: 'learner', version: step - 1 },
      purpose: 'act',
      sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 3 },
      context: Int32Array.from(turn.context),
      ids: Int32Array.from(turn.ids),
      logprobs: Float32Array.from(turn.logprobs),
      messages: [],
      text: '',
      finish: 'stop',
      trainable: true,
      at: 0,
      waitMs: 0,
      policyMs: 0,
    })),
    transitions: turns.map(({ reward }, k) => ({
      call: k,
      role: 'agent',
      anchor: `turn ${k}`,
      action: '',
      valid: true,
      rewards: { agent: reward },
      at: 0,
      environmentMs: 0,
    })),
    tools: {},
    seats: { agent: { player: 'learner', version: step - 1 } },
    outcome: { agent: outcome },
    success: { agent: success },
    stop: 'done',
  };
}

const floats = (data: string): Float32Array => {
  const bytes = Buffer.from(data, 'base64');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
};

function beginning(name: string): Weights {
  const tensors = Object.entries(record.start[name]!);
  return new Map(tensors.map(([key, { shape, data }]) => [key, { shape, data: floats(data) }]));
}

/** An engine that begins with recorded weights. */
async function engineFrom(name: string, start: string, shape: DecoderShape): Promise<Engine> {
  const engine = await createEmbeddedEngine({ seed: 1, threads: 1, tokenBudget: 4096, shape });
  const weights = beginning(start);
  const zeros = (): Map<string, Float32Array> =>
    new Map([...weights].map(([key, { data }]) => [key, new Float32Array(data.length)]));
  const place = join(folder, name, start);
  const steps = new Map([...weights.keys()].map((key) => [key, 0]));
  await saveCheckpoint(place, {
    weights,
    adam: { steps, first: zeros(), second: zeros() },
    frozen: undefined,
    version: 0,
  });
  await engine.load(place, { optimizer: false });
  await engine.freeze();
  return engine;
}

/**
 * The largest distance of a tensor's movement from the recorded one, relative to that one and beyond the rounding of 32-bit
 * weights, and whose it is.
 */
async function furthest(
  engine: Engine,
  start: string,
  recorded: Readonly<Record<string, string>>,
): Promise<{ readonly relative: number; readonly tensor: string }> {
  const place = mkdtempSync(join(folder, 'after-'));
  await engine.save(place);
  const { tensors } = await readSafetensors(join(place, 'model.safetensors'));
  const before = beginning(start);
  expect([...tensors.keys()].sort()).toEqual(Object.keys(recorded).sort());
  const all = [...tensors].map(([tensor, { data }]) => {
    const expected = floats(recorded[tensor]!);
    const from = before.get(tensor)!.data;
    const distance = Math.hypot(...data.map((value, index) => value - from[index]! - expected[index]!));
    const [length, rounding] = [Math.hypot(...expected), 2 ** -23 * Math.hypot(...from)];
    return { tensor, relative: Math.max(0, distance - rounding) / Math.max(length, Number.MIN_VALUE) };
  });
  return all.reduce((worst, one) => (one.relative > worst.relative ? one : worst));
}

async function learnerOf(recipe: Recipe) {
  const config = resolveConfig({
    recipe,
    environmentOptions: factory.options,
    ...(factory.settings && { environmentSettings: factory.settings }),
    settings: {
      seed: 1,
      threads: 1,
      optimizer: {
        ...record.settings.optimizer,
        schedule: 'constant',
        warmupSteps: 0,
        // Methods with replay take steps of their own number.
        ...(record.settings[recipe.name]?.conservatism === undefined && { minibatches: 1, epochs: 1 }),
      },
      ...settingsOf(recipe.name),
    },
  });
  const shape: DecoderShape = {
    ...record.shape,
    activation: 'swiglu',
    tiedHead: false,
    contextLength: 64,
    ...headsOf(recipe, config),
  };
  const { start } = record.moved[recipe.name]!;
  const critical = criticShape(recipe, shape);
  const engine = await engineFrom(recipe.name, start.policy!, shape);
  const critic = critical && (await engineFrom(recipe.name, start.critic!, critical));
  const archive = new Archive(async () => []);
  const steps = record.episodes.map((ofStep, index) =>
    ofStep.map(
      (members, group): Group => ({
        step: index + 1,
        group,
        members: members.map((episode, member) => episodeOf(index + 1, group, member, episode)),
      }),
    ),
  );
  for (const ofStep of steps) archive.add(ofStep);
  const learner = createLearner({
    config,
    recipe,
    world: factory.create(factory.options.parse(config.environment)),
    card: { words: [], maxActionWords: 3, shape },
    renderer,
    engine,
    archive,
    ...(critic && { critic }),
    watch: unwatched,
  });
  return { learner, engine, critic, steps };
}

test.each(Object.keys(record.moved))('three updates of %s move every tensor as torch does', async (name) => {
  const recipe = findRecipe(name);
  const { learner, engine, critic, steps } = await learnerOf(recipe);
  const { signal } = new AbortController();
  const recorded = learner.config.data !== '';
  const kept: Kept[] = steps
    .flat()
    .flatMap(({ members }) => members.map(({ key }) => ({ episode: key, role: 'agent' })));
  let memory = initialMemory(learner, recorded ? kept : []);
  const { start, steps: moved } = record.moved[name]!;
  for (const [step, groups] of steps.entries()) {
    const played = !recorded || recipe.learnsFrom === 'both' ? roleGroups(groups) : [];
    const update = await learnStep(learner, played, { step, planned: 3 }, memory, signal);
    memory = { ...memory, ...update.memory };
    await engine.publish();
    const furthestOf = [await furthest(engine, start.policy!, moved[step]!.policy)];
    if (critic) furthestOf.push(await furthest(critic, start.critic!, moved[step]!.critic));
    for (const { relative, tensor } of furthestOf)
      expect(relative, `${tensor} after update ${step + 1}`).toBeLessThan(1e-4);
  }
  await engine.close();
  await critic?.close();
});
