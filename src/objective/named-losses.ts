/**
 * The losses that training services know by name, per token. With ρ = exp(log π - log q), q the sampler, A the advantage:
 *
 * | name                  | loss of a token                       | settings                                          |
 * |-----------------------|---------------------------------------|---------------------------------------------------|
 * | `cross_entropy`       | -log π                                |                                                   |
 * | `importance_sampling` | -ρ·A                                  |                                                   |
 * | `ppo`                 | -min(ρ·A, clip(ρ)·A)                  | `clip_low_threshold` .8, `clip_high_threshold` 1.2 |
 * | `cispo`               | -stop(clip(ρ))·A·log π                | the same                                          |
 * | `dro`                 | -(A·log π - ½·beta·(log π - log q)²)  | `beta` .05                                        |
 *
 * The thresholds are values of the ratio, not distances from 1. Services add the losses up, each times its `weights`.
 *
 * Sources: PPO, arXiv 1707.06347; CISPO, arXiv 2506.13585; DRO, arXiv 2405.19107.
 */

import { nearest, TurnwiseError } from '../core/errors.ts';
import { clamp, minimum, multiply, negate, subtract } from '../graph/operators/elementwise.ts';
import { stopGradient } from '../graph/operators/logic.ts';
import { sum } from '../graph/operators/reduce.ts';
import { exp, square } from '../graph/operators/unary.ts';
import type { Tensor } from '../graph/tensor.ts';
import type { Objective, TokenTensors } from './contract/objective.ts';

export type LossName = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo' | 'dro';
export type LossSettings = Readonly<Record<string, number>>;

export interface NamedLoss {
  readonly name: LossName;
  readonly settings: LossSettings;
  /** Channels that it reads, besides `weight`. */
  readonly channels: readonly string[];
  /** [N], without the weight. */
  perToken(tokens: TokenTensors): Tensor;
}

interface Entry {
  readonly defaults: LossSettings;
  readonly isPolicyLoss: boolean;
  perToken(tokens: TokenTensors, settings: LossSettings): Tensor;
}

const thresholds: LossSettings = { clip_low_threshold: 0.8, clip_high_threshold: 1.2 };
const ratio = ({ logprobs, channel }: TokenTensors): Tensor =>
  exp(subtract(logprobs, channel('oldLogprobs')));
const clipped = (tokens: TokenTensors, settings: LossSettings): Tensor =>
  clamp(ratio(tokens), settings.clip_low_threshold!, settings.clip_high_threshold!);

const losses: Readonly<Record<LossName, Entry>> = {
  cross_entropy: { defaults: {}, isPolicyLoss: false, perToken: ({ logprobs }) => negate(logprobs) },
  importance_sampling: {
    defaults: {},
    isPolicyLoss: true,
    perToken: (tokens) => negate(multiply(ratio(tokens), tokens.channel('advantages'))),
  },
  ppo: {
    defaults: thresholds,
    isPolicyLoss: true,
    perToken: (tokens, settings) => {
      const advantages = tokens.channel('advantages');
      return negate(
        minimum(multiply(ratio(tokens), advantages), multiply(clipped(tokens, settings), advantages)),
      );
    },
  },
  cispo: {
    defaults: thresholds,
    isPolicyLoss: true,
    perToken: (tokens, settings) => {
      const factor = multiply(stopGradient(clipped(tokens, settings)), tokens.channel('advantages'));
      return negate(multiply(factor, tokens.logprobs));
    },
  },
  dro: {
    defaults: { beta: 0.05 },
    isPolicyLoss: true,
    perToken: ({ logprobs, channel }, { beta }) => {
      const distance = square(subtract(logprobs, channel('oldLogprobs')));
      return subtract(multiply(distance, beta! / 2), multiply(logprobs, channel('advantages')));
    },
  },
};

export const lossNames: readonly LossName[] = Object.keys(losses) as LossName[];

/**
 * The loss of this name.
 *
 * @throws TurnwiseError `loss-unknown`, and `invalid-objective-option` for a setting that the loss does not have
 */
export function namedLoss(name: string, settings: Readonly<Record<string, unknown>> = {}): NamedLoss {
  const entry = Object.hasOwn(losses, name) ? losses[name as LossName] : undefined;
  if (!entry) {
    const near = nearest(name, lossNames);
    throw new TurnwiseError('loss-unknown', {
      what: `There is no loss "${name}"`,
      allowed: lossNames.join(', '),
      ...(near && { next: `Did you mean "${near}"?` }),
    });
  }
  for (const [key, value] of Object.entries(settings)) {
    if (Object.hasOwn(entry.defaults, key) && typeof value === 'number' && Number.isFinite(value)) continue;
    throw new TurnwiseError('invalid-objective-option', {
      what: `The loss ${name} cannot use the setting "${key}"`,
      seen: JSON.stringify(value) ?? 'nothing',
      allowed: Object.keys(entry.defaults).join(', ') || 'no settings',
    });
  }
  const complete = { ...entry.defaults, ...(settings as LossSettings) };
  return {
    name: name as LossName,
    settings: complete,
    channels: entry.isPolicyLoss ? ['advantages', 'oldLogprobs'] : [],
    perToken: (tokens) => entry.perToken(tokens, complete),
  };
}

/** The sum of the loss over the tokens, each times its `weight`. */
export function objectiveOf(loss: NamedLoss): Objective {
  return {
    key: `named ${loss.name} ${JSON.stringify(loss.settings)}`,
    channels: loss.channels,
    needs: {},
    named: loss,
    build: (tokens) => ({ loss: sum(multiply(tokens.weight, loss.perToken(tokens))), metrics: {} }),
  };
}
