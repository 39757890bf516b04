/** The trainer of one step: it takes the optimizer steps that a recipe asks for, and keeps count of them. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import type { RoleGroup, Trajectory } from '../../core/trajectory.ts';
import type { CreditState } from '../../credit/report/rollouts.ts';
import type { Engine, SampleResult, ScoreRequest } from '../../engine/engine.ts';
import { scoredRows } from '../../engine/token-batch.ts';
import { truthsOf } from '../../env/world.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { explainedVariance } from '../../objective/critic/value.ts';
import { sampleAll } from '../../policy/sampler.ts';
import type { Metrics } from '../loop/events.ts';
import { playExpert } from '../loop/expert.ts';
import type { CreditedSample } from './batch.ts';
import { type CreditedGroups, creditedEpisodes, creditGroups } from './credit-groups.ts';
import { GradientSteps, type Moment, momentKey } from './gradient-steps.ts';
import type { Kept } from './learn.ts';
import type { Learner } from './learner.ts';
import { lessonRows } from './lesson-rows.ts';
import { policyObjective } from './policy-objective.ts';
import { withoutSamplerNumbers } from './sampler-gap.ts';
import type { Credited } from './stored-credit.ts';
import { withoutGuidance } from './strip-guidance.ts';
import type { Lesson, Prompt, ReadRow, TrainedModel, Trainer } from './trainer.ts';

/** Reads rows, at this temperature unless another is said. */
function scoring(model: Pick<Engine, 'score'>, temperature: number): TrainedModel['score'] {
  return (rows_B, what = {}) => {
    const rows = rows_B.map((row) => (row instanceof Int32Array ? { ids_T: row } : row));
    return model.score(scoredRows(rows), { temperature, ...what });
  };
}

/** Weights of an engine, with the optimizer steps that were taken on them. */
class EngineModel implements TrainedModel {
  readonly steps: GradientSteps;
  readonly #engine: Engine;
  readonly #temperature: number;
  readonly #prefix: string;

  constructor(engine: Engine, steps: GradientSteps, temperature: number, prefix: string) {
    this.#engine = engine;
    this.steps = steps;
    this.#temperature = temperature;
    this.#prefix = prefix;
  }

  score(rows_B: readonly ReadRow[], what: Partial<ScoreRequest> = {}) {
    return scoring(this.#engine, this.#temperature)(rows_B, what);
  }

  learn(lesson: Lesson, objective: Objective): Promise<void> {
    return this.steps.take(lesson, objective);
  }

  keep(rate?: number): Promise<void> {
    return this.#engine.freeze(rate);
  }

  figures(): Metrics {
    return this.steps.metrics(`${this.#prefix}/loss`, this.#prefix === 'policy' ? 'optim' : this.#prefix);
  }
}

export class StepTrainer implements Trainer {
  readonly policy: EngineModel;
  readonly critic?: EngineModel;
  readonly #learner: Learner;
  readonly #moment: Moment;
  readonly #groups: readonly RoleGroup[];
  readonly #signal: AbortSignal;
  /** Of the credit method: after `credit` that of the next step. */
  creditState: CreditState;
  /** Of the facts that the recipe found out. */
  #found: Metrics = {};
  /** The credit of each trajectory, for the store; absent where the recipe asks for none. */
  credited?: ReadonlyMap<string, Credited>;

  /** @param groups all that are in the baseline, with their choices @param signal of the run */
  constructor(
    learner: Learner,
    moment: Moment,
    creditState: CreditState,
    groups: readonly RoleGroup[],
    signal: AbortSignal,
  ) {
    const { config, critic, engine, recipe } = learner;
    const { temperature } = config.rollout;
    this.#learner = learner;
    this.#moment = moment;
    this.#groups = groups;
    this.#signal = signal;
    this.creditState = creditState;
    const ofPolicy = new GradientSteps(learner, moment);
    this.policy = new EngineModel(engine, ofPolicy, temperature, 'policy');
    // A policy that acts by its values as well samples from another distribution than the one that is trained.
    if (recipe.actsBy)
      this.policy.learn = (lesson, objective) => ofPolicy.take(withoutSamplerNumbers(lesson), objective);
    if (critic) {
      const { learningRate } = config.critic;
      const ofCritic = new GradientSteps(learner, moment, { engine: critic, learningRate });
      this.critic = new EngineModel(critic, ofCritic, temperature, 'critic');
    }
  }

  teacher(): Pick<TrainedModel, 'score'> {
    const { teacher, config } = this.#learner;
    if (teacher) return { score: scoring(teacher, config.rollout.temperature) };
    throw new TurnwiseError('teacher-missing', {
      what: 'The recipe learns from a teacher, and the run has none',
      next: 'Name one: --set teacher=RUN, RUN@STEP, a model folder or a server',
    });
  }

  get valueHead(): boolean {
    return this.#learner.recipe.critic;
  }

  get renderer() {
    return this.#learner.renderer;
  }

  get protocol() {
    return this.#learner.world.protocol;
  }

  truth(task: Json): readonly string[] {
    return truthsOf(this.#learner.world, task);
  }

  get contextLength(): number {
    return this.#learner.engine.capabilities.contextLength;
  }

  objective({ valueOnly = false } = {}): Objective {
    const { catalogue, config } = this.#learner;
    return policyObjective(config, { critic: this.valueHead, valueOnly }, catalogue);
  }

  async credit(groups: readonly RoleGroup[]): Promise<CreditedGroups> {
    const compared = withBaselines(groups, this.#groups);
    const trajectories = compared.flatMap(({ members }) => members);
    const { turnFacts } = this.#learner.recipe;
    const facts_IK = await turnFacts?.find(this, trajectories);
    this.#found = (facts_IK && turnFacts?.figures?.(facts_IK)) ?? {};
    const credited = await creditGroups(this.#learner, compared, this.creditState, facts_IK);
    this.creditState = credited.state;
    this.credited = creditedEpisodes(credited);
    return credited;
  }

  rows(
    samples: readonly CreditedSample[],
    objective: Objective,
    referenceLogprobs_B?: readonly Float32Array[],
  ) {
    return lessonRows(this.#learner, samples, objective, referenceLogprobs_B);
  }

  async recall(kept: readonly Kept[]) {
    return withoutGuidance(this.#learner, await this.#learner.archive.recall(kept));
  }

  async complete(prompts: readonly Prompt[]): Promise<SampleResult[]> {
    const { config, engine, renderer, countScored } = this.#learner;
    const { temperature, topP, topK } = config.rollout;
    const longestOf = (choices: Prompt['choices']): number =>
      choices?.reduce((most, { length }) => Math.max(most, length), 0) ?? renderer.maxTurnTokens;
    const requests = prompts.map(({ ids_T, name, choices }) => ({
      conversation: name,
      keep: 0,
      append: Int32Array.from(ids_T),
      sampling: {
        temperature,
        topP,
        topK,
        maxTokens: Math.min(longestOf(choices), this.contextLength - ids_T.length),
      },
      ...(choices && { choices }),
      stopIds: renderer.stopIds,
      seed: `${config.seed}/${name}`,
    }));
    const results = await sampleAll(engine, requests);
    engine.release(requests.map(({ conversation }) => conversation));
    const lengths = results.map(({ ids }, index) => requests[index]!.append.length + ids.length);
    countScored(lengths.reduce((sum, length) => sum + length, 0));
    return results;
  }

  expert(groups: readonly RoleGroup[]) {
    return playExpert(this.#learner, groups, this.#signal);
  }

  rng(purpose: string): Rng {
    return Rng.of(purpose, this.#learner.config.seed, ...momentKey(this.#moment));
  }

  /** What the optimizer steps of both models amount to. */
  figures(): { readonly metrics: Metrics; readonly trainedTokens: number; readonly updates: number } {
    const { steps } = this.policy;
    const metrics = { ...this.policy.figures(), ...this.critic?.figures() };
    return {
      metrics: {
        ...metrics,
        ...this.#found,
        ...('value/weight' in metrics && { 'value/explained_variance': explainedVariance(metrics) }),
        'optim/learning_rate': steps.learningRate,
        'tokens/trained': steps.trainedTokens,
      },
      trainedTokens: steps.trainedTokens + (this.critic?.steps.trainedTokens ?? 0),
      updates: steps.updates + (this.critic?.steps.updates ?? 0),
    };
  }
}

/** The groups of the step that are in the loss: what a recipe is given. */
export function groupsInLoss(groups: readonly RoleGroup[]): readonly RoleGroup[] {
  const isIn = ({ choice }: Trajectory): boolean => choice?.inLoss ?? true;
  if (groups.every(({ members }) => members.every(isIn))) return groups;
  return groups.flatMap((group) => {
    const members = group.members.filter(isIn);
    return members.length > 0 ? [{ ...group, members }] : [];
  });
}

/** The groups with those that set baselines and nothing else, each in its place; groups of other steps come last. */
function withBaselines(groups: readonly RoleGroup[], step: readonly RoleGroup[]): readonly RoleGroup[] {
  if (groupsInLoss(step) === step) return groups;
  const given = new Set(groups.flatMap(({ members }) => members));
  const known = new Set(step.map(({ id }) => id));
  return [
    ...step.map((group) => ({
      ...group,
      members: group.members.filter((member) => given.has(member) || member.choice?.inLoss === false),
    })),
    ...groups.filter(({ id }) => !known.has(id)),
  ];
}
