import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineCuration } from '../curation/curation.ts';
import { defineTasks } from '../curation/tasks/task-source.ts';
import { toolProtocol } from '../env/tool-protocol.ts';
import { defineObjective } from '../objective/contract/define.ts';
import type { ObjectiveNeeds } from '../objective/contract/objective.ts';
import { objectiveEntry } from '../objective/objectives.ts';
import { defineTurns } from '../rollout/turns/turn-control.ts';
import { builtIns } from '../train/config/catalogue.ts';
import { obstacle } from '../train/fit/fit.ts';
import { findRecipe } from '../train/recipes/recipes.ts';
import { findEnvironment } from './load/environments.ts';
import { placeOf, prepareRun } from './prepare-run.ts';

const frozenLake = await findEnvironment('frozen-lake');

function refusal(
  recipe: string,
  settings: Parameters<typeof prepareRun>[2] = {},
  environment = frozenLake,
): string {
  try {
    prepareRun(environment, findRecipe(recipe), settings);
    return 'served';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
}

test('self-play with one role is refused, and the nearest recipe named', () => {
  expect(refusal('self-play')).toMatchInlineSnapshot(
    `"recipe-unfit: The recipe "self-play" cannot be used for frozen-lake: it needs an environment with several roles. The nearest that can is "rloo": each episode against the mean of the others of its group; clipped policy gradient."`,
  );
  expect(refusal('rloo')).toBe('served');
});

test('a method that reads values needs a recipe that trains them', () => {
  expect(refusal('rloo', { credit: { method: 'gae' } })).toMatchInlineSnapshot(
    `"recipe-unfit: The recipe "rloo" cannot be used for frozen-lake: it needs a recipe that trains a critic (credit method "gae" reads its values). The nearest that can is "ppo": token-level GAE with a value head, skipping observation tokens; clipped policy gradient and value loss."`,
  );
});

test('groups that would all be dropped are refused; recipes that compare no groups learn from one episode', () => {
  expect(refusal('rloo', { rollout: { group: 1 } })).toMatch(
    /it needs groups of at least 2 episodes, since smaller ones are dropped \(rollout.group is 1, rollout.minimumMembers 2\)\. The nearest that can is "reinforce/,
  );
  expect(refusal('rloo', { rollout: { group: 3, minimumMembers: 4 } })).toContain('at least 4 episodes');
  expect(refusal('rloo', { rollout: { group: 1, minimumMembers: 1 } })).toBe('served');
  expect(refusal('reinforce', { rollout: { group: 1 } })).toBe('served');
  expect(refusal('filtered-bc', { data: 'demonstrations' })).toBe('served');
});

test('what a recipe cannot serve in a stage is refused with the stage', () => {
  const stages = (group: number) => ({
    stages: [
      { until: 2, set: {} },
      { until: 4, set: { 'rollout.group': group } },
    ],
  });
  expect(refusal('rloo', stages(1))).toMatch(
    /^recipe-unfit: Stage 2: The recipe "rloo".* at least 2 episodes/,
  );
  expect(refusal('rloo', stages(2))).toBe('served');
  const last = { stages: [{ until: 2, set: { 'rollout.group': 2 } }] };
  expect(refusal('rloo', { rollout: { group: 1 }, ...last })).toMatch(/^recipe-unfit: The recipe "rloo"/);
});

test('a critic that classifies has bins that hold all returns', async () => {
  const wordle = await findEnvironment('wordle');
  const classified = (valueBins: object, rewardScale = 0.1) =>
    refusal('ppo', { objective: { valueLoss: 'hl-gauss', valueBins }, credit: { rewardScale } }, wordle);
  expect(classified({})).toBe('served');
  expect(classified({}, 1)).toContain('bins that hold all returns of the environment');
  expect(classified({ low: -7 }, 1)).toBe('served');
  expect(refusal('ppo', {}, wordle)).toBe('served');
});

test('KL in rewards is refused where the method or a shaping would lose it, and the estimators that work are named', () => {
  const priced = { objective: { klCoefficient: 0.1, klEstimator: 'k1' } } as const;
  expect(refusal('g-ra', priced)).toMatchInlineSnapshot(
    `"recipe-unfit: The recipe "g-ra" cannot be used for frozen-lake: it needs a KL penalty in the loss, objective.klEstimator=k2, k3, k3+ (k1 is paid in rewards, and credit method "g-ra" replaces those). The nearest that can is "grpo": each episode against its group, divided by the group’s standard deviation; clipped policy gradient."`,
  );
  expect(refusal('rloo', { ...priced, credit: { shape: { mind: {} } } })).toContain(
    'it needs a KL penalty in the loss, objective.klEstimator=k2, k3, k3+ (k1 is paid in rewards, and reward shaping "mind" replaces those)',
  );
  expect(refusal('g-ra', { objective: { klCoefficient: 0.1 } })).toBe('served');
  expect(refusal('rloo', priced)).toBe('served');
});

test('a cooperative recipe is refused for a game in which one wins what the other loses', async () => {
  const poker = await findEnvironment('kuhn-poker');
  expect(refusal('cory', {}, poker)).toMatchInlineSnapshot(
    `"recipe-unfit: The recipe "cory" cannot be used for kuhn-poker: it needs a game that its roles can win together, not one in which one wins what another loses. The nearest that can is "rloo": each episode against the mean of the others of its group; clipped policy gradient."`,
  );
  expect(refusal('self-play', {}, poker)).toBe('served');
});

test('a curation that looks at whole episodes is refused where the policy plays several roles', async () => {
  const replay = { curation: { 'success-replay': {} } };
  const poker = await findEnvironment('kuhn-poker');
  expect(refusal('rloo', replay, poker)).toContain(
    'it needs an environment with one role (curation "success-replay" looks at whole episodes)',
  );
  expect(refusal('rloo', replay)).toBe('served');
});

test('agents cannot exchange roles where there is one', () => {
  expect(refusal('rloo', { rollout: { exchangeEvery: 5 } })).toContain('an environment with several roles');
});

test('the nearest recipe reads what was set; where none does, the refusal names what it does not read', () => {
  const server = {
    engine: 'tinker',
    tinker: { baseUrl: 'http://127.0.0.1:1', baseModel: 'small' },
  } as const;
  expect(refusal('rloo', { ...server, credit: { method: 'gae' } })).toMatch(
    /it needs a recipe that trains a critic .* The nearest that can is "[^"]+", which does not read credit\.method: /,
  );
  expect(refusal('ppo', { ...server, rollout: { group: 4 }, curation: { varied: { share: 0.5 } } })).toMatch(
    /it needs an engine with a value head\. The nearest that can is "[^"]+": /,
  );
});

test('a context that there is not is refused', () => {
  expect(refusal('rloo', { context: 'latest' })).toBe('served');
  expect(refusal('rloo', { context: 'lastest' })).toBe(
    'unknown-context: There is no such context. Seen: "lastest". Allowed: full, latest, last-turns, tool-window, tool-retention, summary, state, tool-memory, variables, task-graph, modes. Did you mean "latest"?',
  );
});

test('contexts and turn controls that need tools or a mode are refused without', () => {
  expect(refusal('rloo', { context: 'tool-memory' })).toContain(
    'it needs an environment of tools, or an agent (context=tool-memory decides which of them are offered)',
  );
  expect(refusal('rloo', { turns: { name: 'modes' } })).toContain(
    'it needs an environment or a context that gives `mode`, such as context=modes (turns=modes reads it)',
  );
  expect(refusal('rloo', { turns: { name: 'modes' }, context: 'modes' })).toBe('served');
  expect(refusal('grpo', { credit: { shape: { apo: {} } } })).toContain('gives `mode`');
  expect(refusal('grpo', { credit: { shape: { apo: {} } }, context: 'modes' })).toBe('served');
  expect(refusal('tree-grpo', { turns: { name: 'thinking-units' } })).toContain(
    'episodes that do not branch (turns=thinking-units opens tasks again)',
  );
  for (const context of ['variables', 'task-graph']) expect(refusal('rloo', { context })).toBe('served');
});

test('a context that adds a tool is refused where there is one of that name', () => {
  const { recipe, config, world } = prepareRun(frozenLake, findRecipe('rloo'), {
    context: { name: 'variables' },
  });
  const withTools = (...names: string[]) => {
    const declared = names.map((name) => ({ name, description: '', parameters: z.strictObject({}) }));
    return obstacle(recipe, config, placeOf({ ...world, protocol: toolProtocol(declared) }));
  };
  expect(withTools('look', 'find')).toBe(
    'an environment without a tool named show or find (context=variables adds them)',
  );
  expect(withTools('look')).toBeUndefined();
});

test('a policy loss is held to what training and the engine give it', () => {
  const reads = (channels: readonly string[], needs: ObjectiveNeeds = {}) =>
    objectiveEntry(
      defineObjective({ name: 'mine', summary: '' }, z.strictObject({}), () => ({
        channels,
        needs,
        build: () => {
          throw new Error('not built here');
        },
      })),
      'Objective "mine"',
    );
  const missing = (channels: readonly string[], needs?: ObjectiveNeeds, recipe = 'rloo'): string => {
    const objectives = builtIns.objectives.with('mine', reads(channels, needs));
    const catalogue = { ...builtIns, objectives };
    try {
      prepareRun(frozenLake, findRecipe(recipe), { objective: { name: 'mine' } }, catalogue);
      return 'served';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(missing(['advantages', 'oldLogprobs', 'turns'], { entropies: true })).toBe('served');
  expect(missing(['returns'], {}, 'ppo')).toBe('served');
  expect(missing(['returns'])).toContain(
    'it needs a policy loss that reads what training makes: advantages, oldLogprobs, turns (objective.name=mine reads returns)',
  );
  expect(missing([], { pairs: true })).toContain('(objective.name=mine reads pairs)');
  expect(missing([], { values: true })).toContain('it needs a recipe that trains a critic, for its values');
});

test('an engine that lacks something is named as the reason', () => {
  const { recipe, config, world } = prepareRun(frozenLake, findRecipe('ppo'), {
    objective: { entropyCoefficient: 0.1 },
  });
  const all = {
    valueHead: true,
    entropies: true,
    customObjectives: true,
    choices: true,
    schemas: true,
    temperatures: true,
  };
  const reason = (engine: Partial<typeof all>): string | undefined =>
    obstacle(recipe, config, { world, engine: { ...all, ...engine } });
  expect(reason({})).toBeUndefined();
  expect(reason({ customObjectives: false })).toMatchInlineSnapshot(
    `"an engine that runs any loss, not only those it knows by name"`,
  );
  expect(reason({ valueHead: false })).toMatchInlineSnapshot(`"an engine with a value head"`);
  expect(reason({ entropies: false })).toMatchInlineSnapshot(
    `"an engine that computes entropies (objective.entropyCoefficient is above 0)"`,
  );
});

test('tasks, turns and curations are checked by name, by option and by what the recipe can serve', () => {
  expect(refusal('rloo', { tasks: { name: 'revisit', share: 0.25 } })).toBe('served');
  expect(refusal('rloo', { tasks: { name: 'revizit' } })).toContain(
    'unknown-tasks: There is no such source of tasks. Seen: "revizit". Allowed: uniform, revisit, failure-replay, curriculum, dart, exit, guidance, league. Did you mean "revisit"?',
  );
  expect(refusal('rloo', { tasks: { name: 'uniform', share: 0.25 } })).toContain(
    'config-unknown-key: Source of tasks "uniform" has no setting "tasks.share"',
  );
  expect(refusal('rloo', { turns: { name: 'until-voyd' } })).toContain('unknown-turns');
  expect(refusal('rloo', { curation: { resample: {} } })).toContain('unknown-curation');
  expect(refusal('rloo', { curation: { varied: { shares: 1 } } })).toContain('"curation.varied.shares"');
  expect(refusal('dapo', { curation: { 'dynamic-sampling': false } })).toBe('served');
  expect(refusal('dpo', { data: 'demonstrations', curation: { varied: {} } })).toContain('does not read');
  expect(refusal('dpo', { curation: { varied: {} } })).toBe('served');
});

test('a setting that the recipe does not read is refused with the nearest that it reads', () => {
  expect(refusal('filtered-bc', { critic: { updates: 3 } })).toMatch(
    /The recipe "filtered-bc" does not read "critic\.updates".* Did you mean "replay\.updates"\?$/,
  );
});

test('a refusal names the setting that is at fault, and why', () => {
  const atFault = (recipe: string, settings: Parameters<typeof prepareRun>[2]) => {
    try {
      prepareRun(frozenLake, findRecipe(recipe), settings);
      return 'served';
    } catch (error) {
      return [
        (error as { fields?: { key?: string } }).fields?.key,
        (error as Error).message.split('. The nearest')[0],
      ];
    }
  };
  expect([
    atFault('rloo', { context: { name: 'tool-memory' } }),
    atFault('rloo', { rollout: { exchangeEvery: 2 } }),
    atFault('rloo', { credit: { shape: { 'tool-penalty': {} } } }),
    atFault('rloo', { turns: { name: 'modes' } }),
    atFault('tree-grpo', { turns: { name: 'retry' } }),
    atFault('dpo', { curation: { perplexity: {} } }),
    atFault('rloo', { batches: { parts: 2 }, curation: { 'self-imitation': {} } }),
  ]).toMatchInlineSnapshot(`
    [
      [
        "context.name",
        "The recipe "rloo" cannot be used for frozen-lake: it needs an environment of tools, or an agent (context=tool-memory decides which of them are offered). No other recipe can be used with these settings either: change them, or choose another environment.",
      ],
      [
        "rollout.exchangeEvery",
        "The recipe "rloo" cannot be used for frozen-lake: it needs an environment with several roles (rollout.exchangeEvery=2 has agents exchange them). No other recipe can be used with these settings either: change them, or choose another environment.",
      ],
      [
        "credit.shape.tool-penalty",
        "The recipe "rloo" cannot be used for frozen-lake: it needs an environment that gives \`calls\` in \`info.credit\`: Tool calls of the turn (reward shaping "tool-penalty" reads it)",
      ],
      [
        "turns.name",
        "The recipe "rloo" cannot be used for frozen-lake: it needs an environment or a context that gives \`mode\`, such as context=modes (turns=modes reads it)",
      ],
      [
        "turns.name",
        "The recipe "tree-grpo" cannot be used for frozen-lake: it needs episodes that do not branch (turns=retry opens tasks again)",
      ],
      [
        "curation.perplexity",
        "The recipe "dpo" cannot be used for frozen-lake: it needs a recipe that learns by credit (curation "perplexity" gives weights)",
      ],
      [
        "batches.parts",
        "The recipe "rloo" cannot be used for frozen-lake: it needs curations that insert nothing (batches.parts is 2, and curation "self-imitation" would bring its episodes into every part)",
      ],
    ]
  `);
});

test('what places, retries and weights need is there, or the run is refused', () => {
  const weighs = defineCuration({ name: 'weighs', weighs: true, choose: () => ({}) });
  const places = defineTasks({ name: 'places', places: true, next: () => [] });
  const seats = defineTasks({ name: 'seats', seats: true, next: () => [] });
  const retries = defineTurns({ name: 'retries', retries: true, after: () => 'go on' });
  const decides = defineTurns({ name: 'decides', after: () => 'go on' });
  const catalogue = {
    ...builtIns,
    tasks: builtIns.tasks.with('places', places).with('seats', seats),
    turns: builtIns.turns.with('retries', retries).with('decides', decides),
    curations: builtIns.curations.with('weighs', weighs),
  };
  const refused = (recipe: string, settings: Parameters<typeof prepareRun>[2]): string => {
    try {
      prepareRun(frozenLake, findRecipe(recipe), settings, catalogue);
      return 'served';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(
    refused('rloo', { tasks: { name: 'places' }, turns: { name: 'retries' }, curation: { weighs: {} } }),
  ).toBe('served');
  expect(refused('tree-grpo', { tasks: { name: 'places' } })).toContain(
    'it needs episodes that do not branch (tasks=places starts at places of earlier episodes)',
  );
  expect(refused('tree-grpo', { turns: { name: 'retries' } })).toContain('(turns=retries opens tasks again)');
  const { recipe, config, world } = prepareRun(frozenLake, findRecipe('rloo'), {}, catalogue);
  const engine = {
    valueHead: true,
    entropies: true,
    customObjectives: true,
    choices: true,
    schemas: true,
    temperatures: true,
  };
  const ofAgent = (more: Partial<typeof config>): string | undefined =>
    obstacle(
      recipe,
      { ...config, ...more },
      { world: { ...world, agent: {} as NonNullable<typeof world.agent> }, engine },
      catalogue,
    );
  expect(ofAgent({ turns: { name: 'decides' } })).toBeUndefined();
  expect(ofAgent({ turns: { name: 'retries' } })).toBe(
    'an environment, not an agent, whose own code begins its task once (turns=retries opens tasks again)',
  );
  expect(ofAgent({ tasks: { name: 'seats' } })).toContain('not an agent (tasks=seats seats players)');
  expect(refused('gtr', { tasks: { name: 'seats' } })).toContain('plays episodes in no way of its own');
  expect(refused('dpo', { curation: { weighs: {} } })).toContain('(curation "weighs" gives weights)');
});
