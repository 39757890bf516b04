/** What acting needs: the source of tasks, the turn control, curations, and steps that are played ahead or learned in parts. */

import { callDefinition } from '../../core/definition.ts';
import { declaredTools } from '../../env/protocol.ts';
import { canRepeat, policyRoles } from '../../env/world.ts';
import { isSynchronous } from '../config/batch-settings.ts';
import type { Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import { readsCredit } from '../config/run-schema.ts';
import { contextOf } from '../kit/learner.ts';
import type { Recipe } from '../recipes/recipe.ts';
import type { Need, Place } from './need.ts';

/** Whether the episodes of a task branch. */
export function branches(
  { act }: Pick<Recipe, 'act'>,
  { branching }: Pick<TrainConfig, 'branching'>,
): boolean {
  return act !== undefined || branching.explorer !== 'none';
}

/** What the source of tasks, the turn control and the curations need. */
export function needsOfPlay(recipe: Recipe, config: TrainConfig, catalogue: Catalogue): Need[] {
  const { tasks, turns, curation, context, prompts } = config;
  const strategy = catalogue.contexts.find(context.name);
  const added = toolsAdded(config, catalogue);
  const source = catalogue.tasks.find(tasks.name);
  const control = catalogue.turns.find(turns.name);
  const weighing = Object.keys(curation).find((name) => catalogue.curations.find(name).weighs);
  const crediting = Object.keys(curation).find((name) => catalogue.curations.find(name).credits);
  const lonely = Object.keys(curation).find((name) => catalogue.curations.find(name).oneRole);
  const { reads } = control;
  const isWhole: Need['met'] = () => !branches(recipe, config);
  return [
    ...(strategy.needsTools
      ? [
          {
            of: 'environment' as const,
            what: `an environment of tools, or an agent (context=${context.name} decides which of them are offered)`,
            key: 'context.name',
            met: ({ world }: Place) => world.agent !== undefined || (world.protocol?.tools?.length ?? 0) > 0,
          },
        ]
      : []),
    ...(added.length === 0
      ? []
      : [
          {
            of: 'environment' as const,
            what: `an environment without a tool named ${added.join(' or ')} (context=${context.name} adds ${added.length === 1 ? 'one' : 'them'})`,
            key: 'context.name',
            met: ({ world }: Place) =>
              !declaredTools(world.protocol ?? {})?.some(({ name }) => added.includes(name)),
          },
        ]),
    ...(reads !== undefined
      ? [
          {
            of: 'environment' as const,
            what: `an environment or a context that gives \`${reads}\`, such as ${givers(catalogue, reads)} (turns=${turns.name} reads it)`,
            key: 'turns.name',
            met: ({ world }: Place) =>
              world.facts?.includes(reads) || strategy.gives?.includes(reads) || false,
          },
        ]
      : []),
    ...(config.branching.explorer === 'none'
      ? []
      : [
          {
            of: 'environment' as const,
            what: `an environment with one role (branching.explorer=${config.branching.explorer} goes by its rewards)`,
            key: 'branching.explorer',
            met: ({ world }: Place) => policyRoles(world).length <= 1,
          },
        ]),
    ...(source.places
      ? [
          {
            of: 'environment' as const,
            what: `a pure environment, here or behind a turnwise: address, in which what was done can be done again (tasks=${tasks.name} starts at places of earlier episodes)`,
            key: 'tasks.name',
            met: ({ world }: Place) => canRepeat(world),
          },
          {
            of: 'recipe' as const,
            what: `episodes that do not branch (tasks=${tasks.name} starts at places of earlier episodes)`,
            key: 'tasks.name',
            met: isWhole,
          },
        ]
      : []),
    ...(source.seats
      ? [
          {
            of: 'recipe' as const,
            what: `a recipe that learns from any seating, and plays episodes in no way of its own (tasks=${tasks.name} seats players)`,
            key: 'tasks.name',
            met: () => !recipe.needs?.cooperative && !recipe.needs?.roles && recipe.play === undefined,
          },
          {
            of: 'environment' as const,
            what: `an environment with roles to seat players in, not an agent (tasks=${tasks.name} seats players)`,
            key: 'tasks.name',
            met: ({ world }: Place) => world.agent === undefined && world.roles.length > 1,
          },
        ]
      : []),
    ...(control.retries
      ? [
          {
            of: 'environment' as const,
            what: `an environment, not an agent, whose own code begins its task once (turns=${turns.name} opens tasks again)`,
            key: 'turns.name',
            met: ({ world }: Place) => world.agent === undefined,
          },
          {
            of: 'recipe' as const,
            what: `episodes that do not branch (turns=${turns.name} opens tasks again)`,
            key: 'turns.name',
            met: isWhole,
          },
        ]
      : []),
    ...(catalogue.prompts.find(prompts.name).proposes
      ? [
          {
            of: 'recipe' as const,
            what: `somebody who writes prompts (prompts=${prompts.name} asks a proposer: --set prompts.proposer=openai:URL#MODEL, learner with --model, or a file)`,
            key: 'prompts.proposer',
            met: () => prompts.proposer !== '',
          },
        ]
      : []),
    ...(weighing !== undefined
      ? [
          {
            of: 'recipe' as const,
            what: `a recipe that learns by credit (curation "${weighing}" gives weights)`,
            key: `curation.${weighing}`,
            met: () => readsCredit(recipe, config),
          },
        ]
      : []),
    ...(crediting !== undefined
      ? [
          {
            of: 'recipe' as const,
            what: `a recipe without a critic, which has no value for what it is given an advantage of (curation "${crediting}" gives advantages)`,
            key: `curation.${crediting}`,
            met: () => !recipe.critic,
          },
        ]
      : []),
    ...(source.guides
      ? [
          {
            of: 'environment' as const,
            what: `an environment that guides (guidance) or knows a solution of its tasks (truth), for tasks=${tasks.name}`,
            key: 'tasks.name',
            met: ({ world }: Place) => world.guidance !== undefined || world.truth !== undefined,
          },
        ]
      : []),
    ...(lonely !== undefined
      ? [
          {
            of: 'environment' as const,
            what: `an environment with one role (curation "${lonely}" looks at whole episodes)`,
            key: `curation.${lonely}`,
            met: ({ world }: Place) => policyRoles(world).length <= 1,
          },
        ]
      : []),
  ];
}

/** Names of the tools that the context adds to those of the environment. */
function toolsAdded({ context }: TrainConfig, catalogue: Catalogue): readonly string[] {
  const { strategy, options, subject } = contextOf({ context }, catalogue);
  return callDefinition(subject, () => strategy.adds?.(options) ?? []);
}

const givers = ({ contexts }: Catalogue, field: string): string =>
  contexts.all
    .filter(({ gives }) => gives?.includes(field))
    .map(({ name }) => `context=${name}`)
    .join(' or ');

/** What a step that is learned in parts, or played ahead, cannot do. */
export function needsOfParts(recipe: Recipe, config: TrainConfig, catalogue: Catalogue): Need[] {
  const { batches, credit, curation, objective } = config;
  const needs = (met: boolean, key: string, what: string): Need => ({
    ...{ of: 'recipe', key, what },
    met: () => met,
  });
  const rounds = Object.keys(curation).find((name) => catalogue.curations.find(name).rounds);
  const inserting = Object.keys(curation).find((name) => catalogue.curations.find(name).inserts);
  const method = catalogue.credit.find(credit.method);
  const shaping = Object.entries(credit.shape).find(([name, given]) => {
    const { wholeSteps, wholeStepsIf, create } = catalogue.shapings.find(name);
    return wholeSteps ?? wholeStepsIf?.(create(given).options);
  })?.[0];
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
            `curation.${rounds}`,
            `curations that want one round of episodes, where steps are played ahead or learned in parts (curation "${rounds}" may want more; leave it out, or set batches.maxStaleness=0, batches.parts=1 and batches.order=asked)`,
          ),
        ]),
    ...(batches.parts === 1
      ? []
      : [
          needs(!recipe.needs?.wholeSteps, 'batches.parts', `all episodes of a step at once (${parts})`),
          needs(
            whole === undefined,
            'batches.parts',
            `credit that compares within groups and remembers nothing (${parts}, and ${whole} looks at whole steps)`,
          ),
          needs(
            inserting === undefined,
            'batches.parts',
            `curations that insert nothing (${parts}, and curation "${inserting}" would bring its episodes into every part)`,
          ),
          needs(
            objective.entropySmoothing === 0,
            'batches.parts',
            `whole steps, whose entropies it remembers (${parts}, and objective.entropySmoothing is above 0)`,
          ),
        ]),
  ];
}
