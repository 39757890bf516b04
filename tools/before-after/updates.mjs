/**
 * Three updates of some recipes on the same stored episodes, and the weights after each as bytes.
 *
 *   node updates.mjs TREE EPISODES OUT [RECIPE]
 */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [tree, episodes, out, only] = process.argv.slice(2);
const pathOf = (path) => resolve(tree, 'dist', `${path}.js`);
/** The first of these modules that the tree has: files have moved between commits. */
const load = (...paths) => import(pathToFileURL(pathOf(paths.find((path) => existsSync(pathOf(path))))).href);
/** Before the frame the record was of turns. */
const side = existsSync(pathOf('src/train/update')) ? 'before' : 'after';

const { createEmbeddedEngine } = await load('src/engine/embedded/embedded-engine');
const { createLearner, criticShape, headsOf } = await load('src/train/kit/learner', 'src/train/learner');
const { resolveConfig } = await load('src/train/config/resolve', 'src/train/resolve');
const { findRecipe } = await load('src/train/recipes/recipes');
/** Before the frame a recipe learned with the learner itself, and all recipes had one memory. */
const oldStep = side === 'before' && (await load('src/train/update')).updatePolicy;
const { initialMemory, learnStep } =
  side === 'before' ? {} : await load('src/train/loop/learn-step', 'src/train/learn-step');
const { world: factory } = await load('envs/frozen-lake/index');
const { steps } = JSON.parse(readFileSync(episodes, 'utf8'));

/** One of each family: policy gradient, critic, turn critic, preference, offline, actor and critic, mixtures. */
const RECIPES = [
  'grpo',
  'rloo',
  'gigpo',
  'ppo',
  'turn-ppo',
  'reinforce',
  'dpo',
  'kto',
  'rebel',
  'filtered-bc',
  'awr',
  'ilql',
  'archer',
  'sft-rl',
  'spear-sil',
  // Where the warm-up is all that differs, nothing does without it.
  'ppo without value warm-up',
];

const VOCABULARY = 32;
const renderer = {
  stopIds: [1],
  maxTurnTokens: 3,
  prompt: () => ({ promptIds: [], contextIds: [], extendsPrevious: true }),
  completionIds: () => [],
  text: (ids) => Array.from(ids).join(' '),
  answer: (text) => text,
};

for (const name of RECIPES.filter((one) => only === undefined || one === only)) {
  const [recipeName, without] = name.split(' without ');
  const recipe = findRecipe(recipeName);
  const config = resolveConfig({
    recipe,
    environmentOptions: factory.options,
    ...(factory.settings ? { environmentSettings: factory.settings } : {}),
    settings: {
      seed: 7,
      threads: 1,
      ...(without && { objective: { valueWarmup: 0 } }),
      // Recipes that play nothing refuse settings of play.
      ...(!(recipe.settings.data && recipe.learnsFrom === 'either') && { rollout: { group: 4, tasks: 8 } }),
    },
  });
  const shape = {
    vocabulary: VOCABULARY,
    width: 32,
    layers: 2,
    heads: 2,
    keyValueHeads: 2,
    headWidth: 16,
    hidden: 64,
    activation: 'swiglu',
    tiedHead: false,
    ropeTheta: 10_000,
    contextLength: 64,
    normEpsilon: 1e-5,
    ...headsOf(recipe, config),
  };
  const common = { seed: 7, threads: 1, tokenBudget: 512, slots: 8 };
  const engine = await createEmbeddedEngine({ ...common, shape });
  const critical = criticShape(recipe, shape);
  const critic = critical && (await createEmbeddedEngine({ ...common, seed: 8, shape: critical }));
  await engine.freeze();
  await critic?.freeze();
  const scored = await withLogprobs(engine, config);
  const record = side === 'before' ? before(scored) : await after(scored);
  const learner = createLearner({
    config,
    recipe,
    world: factory.create(config.environment),
    card: { words: [], maxActionWords: 3, shape },
    renderer,
    engine,
    ...(critic && { critic }),
    watch: (_what, work) => work(),
    ...record.parts,
  });
  const recorded = config.data === '' ? [] : record.kept;
  const learn = oldStep ? (recipe.learn ?? oldStep) : learnStep;
  let memory = oldStep ? { creditState: {}, replay: recorded } : initialMemory(learner, recorded);
  for (const [step, groups] of record.groups.entries()) {
    const learned = config.data === '' || recipe.learnsFrom === 'both' ? groups : [];
    const update = await learn(learner, learned, { step, planned: 3 }, memory);
    memory = update.memory;
    await engine.publish();
    const folder = join(out, name, String(step));
    mkdirSync(folder, { recursive: true });
    await engine.save(folder);
    if (critic) {
      mkdirSync(join(folder, 'critic'), { recursive: true });
      await critic.save(join(folder, 'critic'));
    }
    console.log(
      `${side} ${name} step ${step}: ${update.updates} updates, loss ${update.metrics['policy/loss']}`,
    );
  }
  await engine.close();
  await critic?.close();
}

/** The episodes with the log-probabilities that the untrained policy gives its tokens. */
async function withLogprobs(engine, config) {
  const rows = [];
  for (const groups of steps) {
    for (const members of groups) {
      for (const { turns } of members) {
        let ids = [];
        for (const [k, turn] of turns.entries()) {
          ids = k > 0 && turn.extends ? [...ids, ...turn.context] : [...turn.context];
          turn.start = ids.length;
          ids = [...ids, ...turn.ids];
          turn.row = rows.push(Int32Array.from(ids)) - 1;
        }
      }
    }
  }
  const { logprobs } = await engine.score(
    { rows: rows.map((ids_T) => ({ ids_T, channels: {} })) },
    { temperature: config.rollout.temperature },
  );
  for (const turn of steps.flat(2).flatMap(({ turns }) => turns)) {
    turn.logprobs = Array.from(logprobs[turn.row].subarray(turn.start, turn.start + turn.ids.length));
  }
  return steps;
}

/** As 0.1.0 had it: one trajectory an episode, with its tokens in its turns. */
function before(stored) {
  const groups = stored.map((ofStep, step) =>
    ofStep.map((members, group) => ({
      id: `${step}/${group}`,
      task: null,
      members: members.map(({ turns, success }, member) => ({
        id: `${step}/${group}/${member}`,
        groupId: `${step}/${group}`,
        role: 'agent',
        policyVersion: step,
        stop: 'done',
        outcome: turns.reduce((sum, { reward }) => sum + reward, 0),
        success,
        turns: turns.map((turn, k) => ({
          kind: 'act',
          anchor: turn.anchor,
          messages: [],
          contextIds: turn.context,
          extendsPrevious: k > 0 && turn.extends,
          ids: turn.ids,
          logprobs: turn.logprobs,
          sampled: true,
          text: '',
          finish: 'stop',
          reward: turn.reward,
          valid: turn.valid,
          info: { credit: turn.credit },
          policyMs: 0,
          environmentMs: 0,
        })),
      })),
    })),
  );
  return { groups, kept: groups.flat().flatMap(({ members }) => members), parts: {} };
}

/** The record of calls and transitions. */
async function after(stored) {
  const { roleGroups } = await load('src/core/trajectory');
  const { Archive } = await load('src/train/kit/archive', 'src/train/archive');
  const archive = new Archive(async () => []);
  const groups = stored.map((ofStep, index) =>
    ofStep.map((members, group) => ({
      step: index + 1,
      group,
      members: members.map(({ turns, success }, member) => episode(index + 1, group, member, turns, success)),
    })),
  );
  for (const ofStep of groups) archive.add(ofStep);
  const roles = groups.map((ofStep) => roleGroups(ofStep));
  const kept = groups
    .flat()
    .flatMap(({ members }) => members.map(({ key }) => ({ episode: key, role: 'agent' })));
  return { groups: roles, kept, parts: { archive } };
}

function episode(step, group, member, turns, success) {
  const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 3 };
  return {
    key: { step, environment: 'made-up', split: 'train', task: group, group, member },
    task: null,
    calls: turns.map((turn, k) => ({
      id: k,
      conversation: 'agent',
      ...(k > 0 && (turn.extends ? { parent: k - 1 } : { newPath: 'window' })),
      role: 'agent',
      by: { kind: 'policy', name: 'learner', version: step - 1 },
      purpose: 'act',
      sampling,
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
    transitions: turns.map((turn, k) => ({
      call: k,
      role: 'agent',
      anchor: turn.anchor,
      action: '',
      valid: turn.valid,
      rewards: { agent: turn.reward },
      facts: turn.credit,
      at: 0,
      environmentMs: 0,
    })),
    tools: {},
    seats: { agent: { player: 'learner', version: step - 1 } },
    outcome: { agent: turns.reduce((sum, { reward }) => sum + reward, 0) },
    success: { agent: success },
    stop: 'done',
  };
}
