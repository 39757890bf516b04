/** What a recipe needs: of the engine, of the roles and abilities of an environment, and of settings that would contradict it. */

import { canBranch, policyRoles } from '../../env/world.ts';
import { isZeroSum } from '../../eval/zero-sum.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Recipe } from '../recipes/recipe.ts';
import type { Need } from './need.ts';
import { branches } from './play-needs.ts';

/** Of the engine, and of settings that fit together. */
export function needsOfSettings(recipe: Recipe, config: TrainConfig): Need[] {
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
      key: 'data',
      met: () => false,
    });
  }
  if ((learnsFrom === 'both' || learnsFrom === 'recorded') && config.data === '') {
    needs.push({
      of: 'recipe',
      what: `recorded episodes${learnsFrom === 'both' ? ' beside those that it plays' : ''} (data is empty)`,
      key: 'data',
      met: () => false,
    });
  }
  const { group, minimumMembers } = config.rollout;
  if (learnsFrom !== 'recorded' && group < minimumMembers) {
    needs.push({
      of: 'recipe',
      what: `groups of at least ${minimumMembers} episodes, since smaller ones are dropped (rollout.group is ${group}, rollout.minimumMembers ${minimumMembers})`,
      key: 'rollout.group',
      met: () => false,
    });
  }
  if (config.objective.entropyCoefficient > 0) {
    needs.push({
      of: 'engine',
      what: 'an engine that computes entropies (objective.entropyCoefficient is above 0)',
      key: 'objective.entropyCoefficient',
      met: ({ engine }) => engine.entropies,
    });
  }
  if (config.objective.entropySmoothing > 0) {
    needs.push({
      of: 'recipe',
      what: 'an entropy bonus to smooth, objective.entropyCoefficient above 0 (objective.entropySmoothing is above 0)',
      key: 'objective.entropySmoothing',
      met: () => config.objective.entropyCoefficient > 0,
    });
  }
  if (config.rollout.temperature !== 1) {
    needs.push({
      of: 'engine',
      what: `an engine that trains at other temperatures than 1 (rollout.temperature is ${config.rollout.temperature})`,
      key: 'rollout.temperature',
      met: ({ engine }) => engine.temperatures,
    });
  }
  return needs;
}

/** Of the environment, and of who sits in its roles. */
export function needsOfWorld(recipe: Recipe, config: TrainConfig): Need[] {
  const needs: Need[] = [];
  const { exchangeEvery } = config.rollout;
  if (recipe.needs?.severalRoles || exchangeEvery > 0) {
    needs.push({
      of: 'environment',
      ...(recipe.needs?.severalRoles
        ? { what: 'an environment with several roles' }
        : {
            what: `an environment with several roles (rollout.exchangeEvery=${exchangeEvery} has agents exchange them)`,
            key: 'rollout.exchangeEvery',
          }),
      met: ({ world }) => policyRoles(world).length > 1,
    });
  }
  if ((recipe.needs?.cooperative || recipe.needs?.roles) && Object.keys(config.seats).length > 0) {
    needs.push({
      of: 'recipe',
      what: 'the learner in every role, since it credits roles by one another (leave out seats)',
      key: 'seats',
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
      met: ({ world }) => policyRoles(world).length <= 1,
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
  const { teacher } = recipe.needs ?? {};
  if (teacher !== undefined) {
    const isRecorded = config.data !== '' && config.data !== 'demonstrations';
    needs.push({
      of: 'recipe',
      what: `a teacher that scores tokens${teacher === 'always' ? '' : ', or recorded episodes with its scores'} (teacher is empty)`,
      key: 'teacher',
      met: () => config.teacher !== '' || (teacher === 'unless-recorded' && isRecorded),
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
  const { valueLoss, valueBins } = config.objective;
  if (recipe.critic && valueLoss !== 'squared') {
    needs.push({
      of: 'recipe',
      what: `bins that hold all returns of the environment, times credit.rewardScale (objective.valueBins is ${valueBins.low} to ${valueBins.high})`,
      key: 'objective.valueBins',
      met: ({ world: { returns = [0, 0] } }) =>
        returns.every((one) => {
          const scaled = one * config.credit.rewardScale;
          return valueBins.low <= scaled && scaled <= valueBins.high;
        }),
    });
  }
  if (branches(recipe, config)) {
    const { explorer } = config.branching;
    const isChosen = recipe.act === undefined;
    const by = isChosen ? `; branching.explorer=${explorer} has them branch` : '';
    needs.push({
      of: 'environment',
      what: `an environment whose episodes can branch (a pure one, one that repeats what is done again, or one whose sessions have snapshots${by})`,
      ...(isChosen && { key: 'branching.explorer' }),
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
  return needs;
}
