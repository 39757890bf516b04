/** The optimizer steps of one update: each takes the gradient of an objective and applies it; together they are reported. */

import { Rng } from '../../core/rng.ts';
import { scheduleFactor } from '../../core/schedule.ts';
import type { Engine } from '../../engine/engine.ts';
import { forwardBackwardStep } from '../../engine/objective-step.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import type { Learner } from './learner.ts';
import { besideSampler, SAMPLER_GAP } from './sampler-gap.ts';
import type { Lesson } from './trainer.ts';

/** Steps taken before this one, and those over which the learning rate decays. */
export interface Moment {
  readonly step: number;
  /** Of the step, where it is learned in several, from 0. Default: 0. */
  readonly part?: number;
  readonly planned: number;
}

/** Names a random stream of that moment: those of a step's first part are the step's. */
export function momentKey({ step, part = 0 }: Moment): readonly number[] {
  return part === 0 ? [step] : [step, part];
}

export class GradientSteps {
  readonly #learner: Learner;
  readonly #moment: Moment;
  readonly #engine: Engine;
  readonly #sums: Record<string, number> = {};
  /** Of the policy's optimizer, at this step of its schedule. */
  readonly learningRate: number;
  /** How far the policy was from the one that sampled, in the first step, before which nothing has changed since. */
  #samplerGap: number | undefined;
  /** Steps taken. */
  updates = 0;
  /** Of these, how many the optimizer refused, for their gradient was not finite. */
  refused = 0;
  trainedTokens = 0;
  #paddedTokens = 0;
  #gradientNorms = 0;

  /** Steps of the policy's engine, or of another one with a constant learning rate of its own. */
  constructor(
    learner: Learner,
    moment: Moment,
    other?: { readonly engine: Engine; readonly learningRate: number },
  ) {
    const { schedule, warmupSteps, finalFraction, learningRate } = learner.config.optimizer;
    const factor = scheduleFactor(
      { kind: schedule, warmupSteps, finalFraction },
      moment.step,
      moment.planned,
    );
    this.#learner = learner;
    this.#moment = moment;
    this.#engine = other?.engine ?? learner.engine;
    this.learningRate = other?.learningRate ?? learningRate * factor;
  }

  /** One optimizer step. */
  async take({ rows, targets: given, ...structure }: Lesson, wanted: Objective): Promise<void> {
    const { config } = this.#learner;
    const { step } = this.#moment;
    const key = momentKey(this.#moment);
    const { targets, objective } = besideSampler(given, wanted);
    const result = await forwardBackwardStep(this.#engine, { rows, targets }, objective, {
      temperature: config.rollout.temperature,
      step,
      rng: Rng.of('objective', config.seed, ...key, this.updates),
      ...structure,
    });
    const { beta1, beta2, weightDecay, clipNorm } = config.optimizer;
    const { gradientNorm, applied } = await this.#engine.optimStep({
      beta1,
      beta2,
      weightDecay,
      clipNorm,
      learningRate: this.learningRate,
      epsilon: 1e-8,
      ...(objective.trains && { only: objective.trains }),
    });
    const { [SAMPLER_GAP]: gap, ...figures } = result.metrics;
    if (this.updates === 0) this.#samplerGap = gap;
    for (const [name, value] of Object.entries({ ...figures, loss: result.loss })) {
      this.#sums[name] = (this.#sums[name] ?? 0) + value;
    }
    this.trainedTokens += result.tokens;
    this.#paddedTokens += result.paddedTokens;
    this.#gradientNorms += applied ? gradientNorm : 0;
    this.refused += applied ? 0 : 1;
    this.updates++;
  }

  /** Means over the steps, by metric path; the loss under `lossName`, the optimizer's figures under `optim/` or `prefix`. */
  metrics(lossName: string, prefix = 'optim'): Record<string, number> {
    const { updates, refused } = this;
    if (updates === 0) return {};
    const means = Object.fromEntries(
      Object.entries(this.#sums).map(([name, sum]) => [name === 'loss' ? lossName : name, sum / updates]),
    );
    return {
      ...means,
      ...(this.#samplerGap !== undefined && { 'policy/kl_sample_train': this.#samplerGap }),
      [`${prefix}/gradient_norm`]: this.#gradientNorms / Math.max(1, updates - refused),
      [`${prefix}/refused_updates`]: refused,
      ...(prefix === 'optim' && {
        'tokens/padding_share': 1 - this.trainedTokens / Math.max(1, this.#paddedTokens),
      }),
    };
  }
}
