/** What the Tinker API can do, and what is refused before anything is sent. */

import { TurnwiseError } from '../../core/errors.ts';
import type { ObjectiveNeeds, TokenTargets } from '../../objective/contract/objective.ts';
import type { EngineAbilities, SampleRequest, ScoreRequest } from '../engine.ts';

/** Whichever server speaks it. */
export const tinkerAbilities: EngineAbilities = {
  valueHead: false,
  entropies: false,
  temperatures: false,
  customObjectives: true,
  choices: false,
  schemas: false,
};

/** @throws TurnwiseError `engine-unsupported` */
export function requirePlainTemperature(temperature: number): void {
  if (temperature === 1) return;
  throw new TurnwiseError('engine-unsupported', {
    what: 'The Tinker API knows log-probabilities at temperature 1 only',
    seen: `temperature ${temperature}`,
    next: 'Train with rollout.temperature 1, or with the embedded engine',
  });
}

/** @throws TurnwiseError `engine-unsupported` */
export function requireWholeVocabulary({
  allowed_N,
}: {
  readonly allowed_N?: TokenTargets['allowed_N'] | undefined;
}): void {
  if (!allowed_N?.some((allowed) => allowed !== null)) return;
  throw new TurnwiseError('engine-unsupported', {
    what: 'The Tinker API normalises over the whole vocabulary, and completions of this batch were restricted to choices',
    next: 'Sample without choices, or train with the embedded engine',
  });
}

/** @throws TurnwiseError `engine-unsupported` */
export function requireFreeSampling({
  choices,
  constraint,
}: Pick<SampleRequest, 'choices' | 'constraint'>): void {
  if (constraint !== undefined) {
    throw new TurnwiseError('engine-unsupported', {
      what: 'The Tinker API cannot hold a completion to a schema',
      next: 'Sample without a constraint, or with the embedded engine',
    });
  }
  if (choices === undefined) return;
  throw new TurnwiseError('engine-unsupported', {
    what: 'The Tinker API cannot restrict a completion to choices',
    seen: `${choices.length} choices`,
    next: 'Sample with rollout.choices false, or with the embedded engine',
  });
}

/** @throws TurnwiseError `engine-unsupported` */
export function requireLogprobsOnly(needs: ObjectiveNeeds & Pick<ScoreRequest, 'top'>): void {
  const missing = [
    ...(needs.values || needs.valueLogits ? ['values'] : []),
    ...(needs.entropies ? ['entropies'] : []),
    ...(needs.distribution || needs.top ? ['log-probabilities of other tokens'] : []),
    ...(needs.heads?.length ? ['extra heads'] : []),
  ];
  if (missing.length === 0) return;
  throw new TurnwiseError('engine-unsupported', {
    what: `The Tinker API has no ${missing.join(' and no ')}`,
    next: 'Use an objective that depends on log-probabilities alone, or the embedded engine',
  });
}
