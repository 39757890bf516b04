/**
 * Forward KL to a teacher whose likeliest tokens are known in the place of each given token.
 *
 *   loss = Σ weight · Σ_j q_j (log q_j - log π(token j)),   q = p / Σ p, p the teacher's k largest probabilities
 *
 * Sources: knowledge distillation, arXiv 1503.02531; at the level of tokens, arXiv 1606.07947; on the student's own
 * completions, GKD, arXiv 2306.13649.
 * 1. The teacher's distribution is cut after its k likeliest tokens and normalised over them; the student's is not. The loss is
 *    a divergence of distributions over the whole vocabulary, least where the student has all of its probability on those
 *    tokens, in the teacher's proportions. With k = the vocabulary it is the whole forward KL.
 */

import { z } from 'zod';
import { divide, multiply, subtract } from '../../graph/operators/elementwise.ts';
import { cast } from '../../graph/operators/logic.ts';
import { sum } from '../../graph/operators/reduce.ts';
import { exp, log } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';

const schema = z.strictObject({
  top: z.int().min(1).default(20).describe('Likeliest tokens of the teacher that are compared'),
});

/**
 * Reads `teacherIds` and `teacherLogprobs`, `top` numbers a target each; tokens of log-probability -1e9 do not count. Metrics:
 * `distill/forward_kl`, and `distill/covered`, the probability that the teacher gives the tokens that are compared.
 *
 * @example
 * await trainer.policy.learn(batchOf(rows), forwardKl({ top: 4 }));   // channels teacherIds and teacherLogprobs: 4 a token
 */
export const forwardKl: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'forward-kl',
    title: 'Forward KL (distillation)',
    summary: 'makes the policy as likely as a teacher to write each of its likeliest tokens',
    formula: 'Σ w Σ_j q_j (log q_j - log π_j),   q = p / Σ p over the k likeliest of the teacher',
    source: 'arXiv 1503.02531; arXiv 1606.07947; arXiv 2306.13649',
    family: 'imitation',
  },
  schema,
  ({ top }) => ({
    channels: ['teacherIds', 'teacherLogprobs'],
    needs: { distribution: true },
    build: (tokens) => {
      const total = totalOf(tokens);
      const own = tokens.logprobsOf(cast(tokens.channel('teacherIds', top), 'int64'));
      const given = tokens.channel('teacherLogprobs', top);
      const covered = sum(exp(given), [-1], true);
      const q = divide(exp(given), covered);
      const kl = sum(multiply(q, subtract(subtract(given, log(covered)), own)), [-1]);
      return {
        loss: total(kl),
        metrics: { 'distill/forward_kl': total(kl), 'distill/covered': total(sum(exp(given), [-1])) },
      };
    },
  }),
);
