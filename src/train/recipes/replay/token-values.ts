/** ILQL and Monte-Carlo returns: values of every next token, learned from recorded episodes, improve the imitated policy. */

import { z } from 'zod';
import { combine } from '../../../objective/contract/combine.ts';
import { ilql as ilqlObjective, mcReturns as returnsObjective } from '../../../objective/critic/ilql.ts';
import { crossEntropy } from '../../../objective/imitation/cross-entropy.ts';
import { replayed, scaledRewards } from '../../config/blocks.ts';
import type { TrainConfig } from '../../config/config.ts';
import type { Replayed } from '../../kit/archive.ts';
import { learnFromReplay } from '../../off-policy/imitation.ts';
import { remembers } from '../../off-policy/replay.ts';
import { averagedRows, onTurnEnds, recordedOf } from '../../off-policy/rows.ts';
import { defineRecipe } from '../recipe.ts';

/** Rewards at the last token of the turn that earned them. Values are learned of every token, of forced ones too. */
function rowsOf(episodes: readonly Replayed[], config: TrainConfig) {
  return averagedRows(
    recordedOf(episodes),
    ({ turns }, sample) => ({
      rewards: onTurnEnds(sample, (turn) => turns[turn]!.reward * config.credit.rewardScale),
    }),
    ({ mask_T }) => mask_T,
  );
}

const initialValue = {
  initialValue: z
    .union([z.literal('least'), z.number()])
    .default('least')
    .describe(
      'Value of every token at first: a number, or the least return of the episodes, at most 0; above it, what nobody recorded seems best',
    ),
};
const ilqlOptions = ilqlObjective.schema.extend(initialValue);
const returnsOptions = returnsObjective.schema.extend(initialValue);

/** The options of the loss, with the value that tokens begin with as a number. */
export function withInitialValue(
  options: { readonly initialValue?: unknown },
  episodes: readonly Pick<Replayed, 'outcome'>[],
  { credit: { rewardScale } }: { readonly credit: Pick<TrainConfig['credit'], 'rewardScale'> },
): object {
  if (options.initialValue !== 'least') return options;
  const least = episodes.reduce((lowest, { outcome }) => Math.min(lowest, outcome * rewardScale), 0);
  return { ...options, initialValue: least };
}

const acting = 'acts by softmax(log π + strength · Q), π the imitated policy';

/**
 * 1. Policy and values share one body and one loss, where the authors train two models.
 * 2. Values begin at the least return of the episodes, where the authors choose a number for each task.
 */
export const ilql = defineRecipe({
  name: 'ilql',
  summary: 'implicit Q-learning token by token from recorded episodes; the imitated policy acts by it',
  formula: [
    'Q_j ← r + γ V(next action token); V ← τ-expectile of min(Q̄_1, Q̄_2); conservatism keeps Q highest where there is data',
    acting.replace('Q)', 'min(Q_1, Q_2))'),
  ],
  use: 'recorded episodes are of mixed quality, and joining the best parts of several is worth it',
  source: 'ILQL, arXiv 2206.11871; LMRL-Gym, arXiv 2311.18232',
  authors:
    'discount 0.99, expectile 0.7 (0.95 in mazes), conservatism 0.01, strength 16 (8 in mazes), target rate 0.005, initial value -4.1 or -4.4 (0 in mazes and chess)',
  frozen: true,
  heads: { q1: 'action', q2: 'action', v: 'scalar' },
  actsBy: ['q1', 'q2'],
  learnsFrom: 'either',
  start: remembers,
  needs: { wholeSteps: true },
  learn: learnFromReplay({
    rows: rowsOf,
    objective: (config, episodes) =>
      combine([crossEntropy(), ilqlObjective(withInitialValue(config.objective.options, episodes, config))]),
    afterwards: ({ policy }, config) => policy.keep(config.critic.targetRate),
  }),
  reads: (plays) => [...replayed(plays), scaledRewards, { critic: { targetRate: true, strength: true } }],
  lossOptions: ilqlOptions,
  settings: { data: 'demonstrations', rollout: { minimumMembers: 1 }, critic: { targetRate: 0.005 } },
});

export const mcReturns = defineRecipe({
  name: 'mc-returns',
  summary: 'regresses values on recorded returns, token by token; the imitated policy acts by them',
  formula: ['Q ← Σ γ^k r over action tokens; conservatism keeps Q highest where there is data', acting],
  use: 'ilql fits, but episodes are short or data is plenty: simpler, and often as good',
  source: 'LMRL-Gym, arXiv 2311.18232',
  authors: 'discount 0.99, conservatism 0.01, strength 16, initial value -4.1 or -4.4 (0 in mazes and chess)',
  heads: { q1: 'action' },
  actsBy: ['q1'],
  learnsFrom: 'either',
  start: remembers,
  needs: { wholeSteps: true },
  learn: learnFromReplay({
    rows: rowsOf,
    objective: (config, episodes) =>
      combine([
        crossEntropy(),
        returnsObjective(withInitialValue(config.objective.options, episodes, config)),
      ]),
  }),
  reads: (plays) => [...replayed(plays), scaledRewards, { critic: { strength: true } }],
  lossOptions: returnsOptions,
  settings: { data: 'demonstrations', rollout: { minimumMembers: 1 } },
});
