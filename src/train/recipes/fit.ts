/** Whether an engine and an environment can serve a recipe: asked before anything runs. */

import { TurnwiseError } from '../../core/errors.ts';
import { differences } from '../../core/json/differences.ts';
import { meaningOf } from '../../credit/contract/needs.ts';
import type { CreditField } from '../../credit/report/fields.ts';
import type { EngineAbilities } from '../../engine/engine.ts';
import { canBranch, canRepeat, type World } from '../../env/world.ts';
import { isZeroSum } from '../../eval/zero-sum.ts';
import { klEstimators } from '../../objective/regularizer/kl.ts';
import { isSynchronous } from '../config/batch-settings.ts';
import { builtIns, type Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import { readsCredit } from '../config/run-schema.ts';
import { findPolicyLoss, lossChannels, lossOptions } from '../kit/policy-objective.ts';
import type { Recipe } from './recipe.ts';

export interface Place {
  readonly world: Pick<World, 'name' | 'roles' | 'script' | 'facts' | 'correctThought' | 'truth'> &
    Partial<Pick<World, 'protocol' | 'game' | 'agent' | 'pure' | 'repeats' | 'snapshots'>>;
  readonly engine: EngineAbilities;
}

/** What a recipe with its settings needs, each with whether it is there, in words that end a sentence. */
export function needsOf(
  recipe: Recipe,
  config: TrainConfig,
  catalogue: Catalogue = builtIns,
): readonly Need[] {
  const needs: Need[] = [
    {
      of: 'engine',
      what: 'an engine that runs any loss, not only those it knows by name',
      met: ({ engine }) => engine.customObjectives,
    },
  ];
  if (recipe.critic || recipe.heads || recipe.criticHeads) {
    needs.push({ of: 'engine', what: 'an engine with a value head', met: ({ engine }) => engine.valueHead });
  }
  const { learnsFrom = 'played' } = recipe;
  // A run or a file is imitated first; the demonstrations are so anyway.
  if (learnsFrom === 'played' && config.data === 'demonstrations') {
    needs.push({
      of: 'recipe',
      what: 'episodes that it plays itself (data names recorded ones)',
      met: () => false,
    });
  }
  if ((learnsFrom === 'both' || learnsFrom === 'recorded') && config.data === '') {
    needs.push({
      of: 'recipe',
      what: `recorded episodes${learnsFrom === 'both' ? ' beside those that it plays' : ''} (data is empty)`,
      met: () => false,
    });
  }
  if (config.objective.entropyCoefficient > 0) {
    needs.push({
      of: 'engine',
      what: 'an engine that computes entropies (objective.entropyCoefficient is above 0)',
      met: ({ engine }) => engine.entropies,
    });
  }
  if (config.objective.entropySmoothing > 0) {
    needs.push({
      of: 'recipe',
      what: 'an entropy bonus to smooth (objective.entropyCoefficient above 0)',
      met: () => config.objective.entropyCoefficient > 0,
    });
  }
  if (config.rollout.temperature !== 1) {
    needs.push({
      of: 'engine',
      what: `an engine that trains at other temperatures than 1 (rollout.temperature is ${config.rollout.temperature})`,
      met: ({ engine }) => engine.temperatures,
    });
  }
  if (recipe.learn === undefined) needs.push(...needsOfLoss(recipe, config, catalogue));
  const method = catalogue.credit.find(config.credit.method);
  if (method.needs.includes('turns[].entropies')) {
    needs.push({
      of: 'engine',
      what: `an engine that computes entropies (credit method "${config.credit.method}" reads them)`,
      met: ({ engine }) => engine.entropies,
    });
  }
  if (method.critic) {
    needs.push({
      of: 'recipe',
      what: `a recipe that trains a critic (credit method "${config.credit.method}" reads its values)`,
      met: () => recipe.critic,
    });
  }
  if (config.objective.klCoefficient > 0 && config.objective.klEstimator === 'k1') {
    const deaf = deafToPrices(config, catalogue);
    needs.push({
      of: 'recipe',
      what: `a KL penalty in the loss, objective.klEstimator=${klEstimators.join(', ')} (k1 is paid in rewards, and ${deaf} replaces those)`,
      met: () => deaf === undefined,
    });
  }
  needs.push(...needsOfPlay(recipe, config, catalogue), ...needsOfParts(recipe, config, catalogue));
  if (recipe.needs?.severalRoles || config.rollout.exchangeEvery > 0) {
    needs.push({
      of: 'environment',
      what: 'an environment with several roles',
      met: ({ world }) => world.roles.length > 1,
    });
  }
  if ((recipe.needs?.cooperative || recipe.needs?.roles) && Object.keys(config.seats).length > 0) {
    needs.push({
      of: 'recipe',
      what: 'the learner in every role, since it credits roles by one another (leave out seats)',
      met: () => false,
    });
  }
  if (recipe.needs?.cooperative) {
    needs.push({
      of: 'environment',
      what: 'a game that its roles can win together, not one in which one wins what another loses',
      met: ({ world }) => world.game === undefined || !isZeroSum(world.game),
    });
  }
  if (recipe.needs?.oneRole) {
    needs.push({
      of: 'environment',
      what: 'an environment with one role',
      met: ({ world }) => world.roles.length <= 1,
    });
  }
  if (recipe.needs?.script) {
    needs.push({
      of: 'environment',
      what: 'an environment with a scripted expert',
      met: ({ world }) => world.script !== undefined,
    });
  }
  if (recipe.needs?.truth) {
    needs.push({
      of: 'environment',
      what: 'an environment that knows a solution of its tasks (truth)',
      met: ({ world }) => world.truth !== undefined,
    });
  }
  if (recipe.needs?.corrector) {
    needs.push({
      of: 'environment',
      what: 'an environment that corrects thoughts (correctThought)',
      met: ({ world }) => world.correctThought !== undefined,
    });
    needs.push({
      of: 'environment',
      what: 'an action protocol that tells thoughts from actions, such as tags',
      met: ({ world }) => world.protocol?.thought !== undefined,
    });
  }
  if (recipe.act) {
    needs.push({
      of: 'environment',
      what: 'an environment whose episodes can branch (a pure one, or one whose sessions have snapshots)',
      met: ({ world }) => canBranch(world),
    });
  }
  const { roles } = recipe.needs ?? {};
  if (roles) {
    needs.push({
      of: 'environment',
      what: `an environment with the roles ${roles.join(' and ')}`,
      met: ({ world }) => roles.every((role) => world.roles.includes(role)),
    });
  }
  for (const field of factsNeeded(recipe, config, catalogue)) {
    const name = field.replace('turns[].', '');
    needs.push({
      of: 'environment',
      what: `an environment that gives \`${name}\` in \`info.credit\`: ${meaningOf(field).replace(/[.;:](\s.*)?$/, '')}`,
      met: ({ world }) => world.facts?.includes(name) ?? false,
    });
  }
  return needs;
}

/** What the source of tasks, the turn control and the curations need. */
function needsOfPlay(recipe: Recipe, config: TrainConfig, catalogue: Catalogue): Need[] {
  const { tasks, turns, curation } = config;
  const source = catalogue.tasks.find(tasks.name);
  const control = catalogue.turns.find(turns.name);
  const weighing = Object.keys(curation).find((name) => catalogue.curations.find(name).weighs);
  const branches: Need['met'] = () => recipe.act === undefined;
  return [
    ...(source.places
      ? [
          {
            of: 'environment' as const,
            what: `a pure environment, here or behind a turnwise: address, in which what was done can be done again (tasks=${tasks.name} starts at places of earlier episodes)`,
            met: ({ world }: Place) => canRepeat(world),
          },
          {
            of: 'recipe' as const,
            what: `episodes that do not branch (tasks=${tasks.name} starts at places of earlier episodes)`,
            met: branches,
          },
        ]
      : []),
    ...(source.seats
      ? [
          {
            of: 'environment' as const,
            what: `an environment with roles to seat players in, not an agent (tasks=${tasks.name} seats players)`,
            met: ({ world }: Place) => world.agent === undefined,
          },
          {
            of: 'recipe' as const,
            what: `a recipe that learns from any seating, and plays episodes in no way of its own (tasks=${tasks.name} seats players)`,
            met: () => !recipe.needs?.cooperative && !recipe.needs?.roles && recipe.play === undefined,
          },
        ]
      : []),
    ...(control.retries
      ? [
          {
            of: 'environment' as const,
            what: `an environment, not an agent, whose own code begins its task once (turns=${turns.name} opens tasks again)`,
            met: ({ world }: Place) => world.agent === undefined,
          },
          {
            of: 'recipe' as const,
            what: `episodes that do not branch (turns=${turns.name} opens tasks again)`,
            met: branches,
          },
        ]
      : []),
    ...(weighing !== undefined
      ? [
          {
            of: 'recipe' as const,
            what: `a recipe that learns by credit (curation "${weighing}" gives weights)`,
            met: () => readsCredit(recipe, config),
          },
        ]
      : []),
  ];
}

/** What a step that is learned in parts, or played ahead, cannot do. */
function needsOfParts(recipe: Recipe, config: TrainConfig, catalogue: Catalogue): Need[] {
  const { batches, credit, curation, objective } = config;
  const needs = (met: boolean, what: string): Need => ({ of: 'recipe', what, met: () => met });
  const rounds = Object.keys(curation).find((name) => catalogue.curations.find(name).rounds);
  const method = catalogue.credit.find(credit.method);
  const shaping = Object.keys(credit.shape).find((name) => catalogue.shapings.find(name).wholeSteps);
  const whole = !readsCredit(recipe, config)
    ? undefined
    : method.wholeSteps
      ? `credit method "${method.name}"`
      : shaping && `reward shaping "${shaping}"`;
  const parts = `batches.parts is ${batches.parts}`;
  return [
    ...(rounds === undefined || isSynchronous(config)
      ? []
      : [
          needs(
            false,
            `curations that want one round of episodes, where steps are played ahead or learned in parts (curation "${rounds}" may want more; leave it out, or set batches.maxStaleness=0, batches.parts=1 and batches.order=asked)`,
          ),
        ]),
    ...(batches.parts === 1
      ? []
      : [
          needs(!recipe.needs?.wholeSteps, `all episodes of a step at once (${parts})`),
          needs(
            whole === undefined,
            `credit that compares within groups and remembers nothing (${parts}, and ${whole} looks at whole steps)`,
          ),
          needs(
            objective.entropySmoothing === 0,
            `whole steps, whose entropies it remembers (${parts}, and objective.entropySmoothing is above 0)`,
          ),
        ]),
  ];
}

/** What the policy loss reads of the engine, and of what training makes. */
function needsOfLoss(recipe: Recipe, config: TrainConfig, catalogue: Catalogue): Need[] {
  const { name } = config.objective;
  const loss = findPolicyLoss(name, catalogue).create(lossOptions(config.objective, catalogue));
  const { values, entropies, valueLogits, heads = [], sequences, pairs, scores } = loss.needs;
  const reads = `(objective.name=${name} reads them)`;
  const made = lossChannels(recipe, config, catalogue);
  const unmade = [
    // What is not made of the episodes, it may prepare itself.
    ...(loss.prepare ? [] : loss.channels.filter((channel) => !made.includes(channel))),
    ...(valueLogits ? ['valueLogits'] : []),
    ...[...heads, ...(scores?.heads ?? []), ...(scores?.frozenHeads ?? [])].map((head) => `the head ${head}`),
    ...(sequences ? ['sequences'] : []),
    ...(pairs ? ['pairs'] : []),
  ];
  return [
    ...(entropies
      ? [
          {
            of: 'engine' as const,
            what: `an engine that computes entropies ${reads}`,
            met: ({ engine }: Place) => engine.entropies,
          },
        ]
      : []),
    ...(values
      ? [
          {
            of: 'recipe' as const,
            what: `a recipe that trains a critic, for its values ${reads}`,
            met: () => recipe.critic,
          },
        ]
      : []),
    ...unmade.map((what) => ({
      of: 'recipe' as const,
      what: `a policy loss that reads what training makes: ${made.join(', ')} (objective.name=${name} reads ${what})`,
      met: () => false,
    })),
  ];
}

/** The method or shaping, in words, that makes rewards of its own, so that nothing added to them reaches the advantages. */
function deafToPrices({ credit }: TrainConfig, catalogue: Catalogue): string | undefined {
  if (catalogue.credit.find(credit.method).ownRewards) return `credit method "${credit.method}"`;
  const shaping = Object.keys(credit.shape).find((name) => catalogue.shapings.find(name).ownRewards);
  return shaping === undefined ? undefined : `reward shaping "${shaping}"`;
}

/** What training itself knows of every episode. */
const KNOWN_ANYWHERE: readonly CreditField[] = [
  'outcome',
  'success',
  'parent',
  'sharedTurns',
  'turns[].reward',
  'turns[].tokens',
  'turns[].anchor',
  'turns[].valid',
  'turns[].value',
  'turns[].values',
  'turns[].entropies',
  // The estimator makes it of states.
  'turns[].progress',
];

/** Fields of the rollout file that only an environment can give. */
function factsNeeded(recipe: Recipe, { credit }: TrainConfig, catalogue: Catalogue): readonly CreditField[] {
  const described = [
    catalogue.credit.find(credit.method),
    ...Object.keys(credit.shape).map((name) => catalogue.shapings.find(name)),
  ];
  const fields = [...described.flatMap(({ needs }) => needs), ...(recipe.needs?.facts ?? [])];
  const found = [...KNOWN_ANYWHERE, ...(recipe.turnFacts?.fields ?? [])];
  return [...new Set(fields)].filter((field) => !found.includes(field));
}

export interface Need {
  readonly of: 'engine' | 'environment' | 'recipe';
  readonly what: string;
  met(place: Place): boolean;
}

/** The first thing that is missing, in words; undefined where the recipe can be served. */
export function obstacle(
  recipe: Recipe,
  config: TrainConfig,
  place: Place,
  catalogue: Catalogue = builtIns,
): string | undefined {
  return needsOf(recipe, config, catalogue).find((need) => !need.met(place))?.what;
}

/** A recipe with the configuration that the settings of another one give it. */
export interface Alternative {
  readonly recipe: Recipe;
  readonly config: TrainConfig;
  /** Those that it does not read. */
  readonly unread: readonly string[];
}

/**
 * Refuse a recipe that cannot be served here, and name the nearest that can: the one that reads most of the settings, then the one
 * whose configuration differs least.
 *
 * @param alternatives other recipes with the configuration that the same settings would give them
 * @throws TurnwiseError `recipe-unfit`
 */
export function requireFit(
  recipe: Recipe,
  config: TrainConfig,
  place: Place,
  alternatives: () => readonly Alternative[],
  catalogue: Catalogue = builtIns,
): void {
  const missing = obstacle(recipe, config, place, catalogue);
  if (missing === undefined) return;
  // A recipe whose credit was set to another method is hardly that recipe any more.
  const overruled = (other: Alternative): number =>
    other.recipe.settings.credit?.method === other.config.credit.method ? 0 : 1;
  const distance = (other: Alternative): number => differences(config, other.config).length;
  const [near] = alternatives()
    .filter(
      (other) =>
        other.recipe !== recipe && obstacle(other.recipe, other.config, place, catalogue) === undefined,
    )
    .sort(
      (a, b) => a.unread.length - b.unread.length || overruled(a) - overruled(b) || distance(a) - distance(b),
    );
  throw new TurnwiseError('recipe-unfit', {
    what: `The recipe "${recipe.name}" cannot be used for ${place.world.name}: it needs ${missing}`,
    next: near
      ? `The nearest that can is "${near.recipe.name}"${near.unread.length > 0 ? `, which does not read ${near.unread.join(', ')}` : ''}: ${near.recipe.summary}`
      : 'No other recipe can be used with these settings either: change them, or choose another environment',
    fields: {
      recipe: recipe.name,
      environment: place.world.name,
      ...(near && { nearest: near.recipe.name }),
    },
  });
}
