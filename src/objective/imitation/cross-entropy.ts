/**
 * Cross-entropy on given tokens (supervised fine-tuning), which is behaviour cloning where they are an expert's.
 *
 *   loss = -Σ weight · log π(token)
 */

import { z } from 'zod';
import { negate } from '../../graph/operators/elementwise.ts';
import { exp } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { namedLoss } from '../named-losses.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';

const schema = z.strictObject({});

/** Reads no channel. Metric `clone/probability`: mean probability of the given tokens. */
export const crossEntropy: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'cross-entropy',
    title: 'Cross-entropy (SFT, behaviour cloning)',
    summary: 'makes the given tokens likelier',
    formula: '-Σ w log π',
    source: 'Tinker API, cross_entropy',
    family: 'imitation',
  },
  schema,
  () => ({
    channels: [],
    needs: {},
    named: namedLoss('cross_entropy'),
    build: (tokens) => {
      const total = totalOf(tokens);
      return {
        loss: negate(total(tokens.logprobs)),
        metrics: { 'clone/probability': total(exp(tokens.logprobs)) },
      };
    },
  }),
);
