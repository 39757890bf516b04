/** Every field of the rollout file, with what it means and what holds without it: read by the parser and by the docs. */

import { z } from 'zod';
import type { StopReason } from '../../core/stop.ts';
import { trajectoryFacts, turnFacts } from '../../env/facts.ts';
import { AGENT } from '../../env/session.ts';

const stopReasons = [
  'done',
  'turn-limit',
  'token-limit',
  'context-overflow',
  'invalid-action',
  'early-stop',
  'timeout',
  'cancelled',
  'failed:policy',
  'failed:environment',
  'failed:tool',
  'failed:grader',
  'failed:engine',
] as const satisfies readonly StopReason[];

const name = z
  .union([z.string(), z.number()], { error: 'Invalid input: expected a text or a number' })
  .transform(String);

const count = z.number().int().min(0);

export const turnFields = {
  reward: z.number().default(0).describe('Reward of the turn; without it 0.'),
  anchor: name.optional().describe('Key of the state the turn acted in; equal keys are the same state.'),
  tokens: count
    .optional()
    .describe(
      'Number of sampled tokens; without it the ones in `mask`, else the length of `values` or `entropies`, else 1.',
    ),
  mask: z
    .array(z.literal([0, 1]))
    .optional()
    .describe('1 on sampled tokens and 0 on others, in the order of the text.'),
  value: z
    .number()
    .optional()
    .describe('Value of the state before the turn; without it the first of `values`.'),
  values: z.array(z.number()).optional().describe('Value of the prefix before each sampled token.'),
  entropies: z.array(z.number().min(0)).optional().describe('Entropy of the policy at each sampled token.'),
  entropy: z
    .number()
    .min(0)
    .optional()
    .describe('Short for `entropies`: the same entropy at every sampled token.'),
  observationTokens: count.optional().describe('Number of tokens that the environment wrote after the turn.'),
  valid: z.boolean().optional().describe('Whether the environment accepted the action; without it true.'),
  attempt: count
    .optional()
    .describe(
      'Attempt at the task that the turn belongs to, from 0; without it 0 where other turns have one.',
    ),
  ...turnFacts,
};

export const rolloutFields = {
  groupId: name.describe(
    'Trajectories with equal `groupId` and `role` are compared with each other. Required.',
  ),
  id: name.describe('Tells the trajectories of a group and role apart. Required.'),
  role: name.default(AGENT).describe('The role of the trajectory; `agent` by default.'),
  game: trajectoryFacts.game,
  episode: name
    .optional()
    .describe(
      'The episode that this is one role’s view of; without it `id`, so that roles with equal `groupId` and `id` met.',
    ),
  outcome: z
    .number()
    .optional()
    .describe('Return of the trajectory; without it the sum of the turn rewards.'),
  absentOutcome: z
    .number()
    .optional()
    .describe('Outcomes, added up, of roles of the episode that have no trajectory here; without it 0.'),
  success: z
    .boolean()
    .optional()
    .describe('Whether the task was solved; without it whether the outcome is above 0.'),
  stop: z
    .enum(stopReasons)
    .optional()
    .describe(
      'Stop reason; `timeout`, `cancelled` and `failed:*` exclude the trajectory: it enters no statistics and its advantages are 0.',
    ),
  wellFormed: z.boolean().optional().describe('Whether the format was kept; without it true.'),
  overlong: z
    .boolean()
    .optional()
    .describe(
      'Whether it was cut off for its length; without it whether `stop` is `token-limit` or `context-overflow`.',
    ),
  entityShare: trajectoryFacts.entityShare,
  goldenCalls: trajectoryFacts.goldenCalls,
  neededCalls: trajectoryFacts.neededCalls,
  parent: name
    .optional()
    .describe('The `id` of the trajectory of the same group that this one branched from.'),
  sharedTurns: count.optional().describe('How many of its first turns are copies of the parent’s.'),
  replayedAdvantage: z
    .number()
    .optional()
    .describe('Its advantage when it was sampled; marks a trajectory from a replay buffer.'),
  mode: trajectoryFacts.mode,
  turns: z.array(z.looseObject(turnFields)).describe('The turns, in order. Required.'),
};

/** A field of the file as documents name it: `outcome`, `turns[].anchor`. */
export type CreditField = keyof typeof rolloutFields | `turns[].${keyof typeof turnFields}`;
