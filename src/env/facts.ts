/**
 * What an environment may say of a turn for credit: the `credit` object of a step's info. Fields of the whole trajectory
 * (an expert's calls, a mode) may stand in any turn; the last one counts. Read where it is said, so that a mistake fails one
 * episode and never the step that learns from it.
 */

import { z } from 'zod';
import type { Facts } from '../core/facts.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import { parseStrict } from '../core/json/parse-strict.ts';

/** Larger numbers say nothing, and their sums overflow. */
export const LARGEST_AMOUNT = 1e12;

const amount = z.number().min(-LARGEST_AMOUNT).max(LARGEST_AMOUNT);
const count = z.number().int().min(0);
const share = z.number().min(0).max(1);
const call = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.json() as z.ZodType<Json>).default({}),
});

/** Facts of one turn. */
export const turnFacts = {
  dense: z
    .union([z.array(amount), amount.transform((only) => [only])], {
      error: 'Invalid input: expected a number or a list of numbers',
    })
    .optional()
    .describe(
      'Intermediate reward outside the outcome; a list if there are several, the most important first.',
    ),
  answerProbability: share
    .optional()
    .describe(
      'Probability of the true answer given the policy’s knowledge before the turn (mean over its tokens).',
    ),
  informationGain: amount
    .optional()
    .describe('Gain in (log-)probability of the true answer by the turn, if it is known directly.'),
  calls: z
    .array(call)
    .optional()
    .describe('Tool calls of the turn: `[{"name": "search", "arguments": {"q": "x"}}]`.'),
  progress: amount.optional().describe('Share of the outcome that an estimator attributes to the turn.'),
  features: z.array(amount).optional().describe('Features of the turn for the estimator of progress.'),
  answer: z
    .string()
    .optional()
    .describe('The answer that the turn tried; an empty one does not count as a try.'),
  correct: z
    .boolean()
    .optional()
    .describe('Whether that answer was right; without it whether the reward is above 0.'),
  actionCount: count.optional().describe('Number of actions in the turn; without it 1.'),
  effectiveActions: count.optional().describe('Number of them that changed the state of the environment.'),
  labelCorrect: z.boolean().optional().describe('Whether a feedback turn labelled the response rightly.'),
  response: count
    .optional()
    .describe('Which response to the task the turn is a part of, from 0; without it each turn is one.'),
  wellFormed: z.boolean().optional().describe('Whether a feedback turn kept to its format; without it true.'),
  counterfactual: amount
    .optional()
    .describe('Outcome of a continuation from the same state in which this turn was replaced by another.'),
  teacherGaps: z
    .array(amount)
    .optional()
    .describe(
      'Log-probability of each sampled token when it was sampled, minus the one that a teacher gives it.',
    ),
};

/** Facts of the whole trajectory. */
export const trajectoryFacts = {
  game: z.string().optional().describe('Keeps moving baselines of several environments apart.'),
  entityShare: share
    .optional()
    .describe('Share of the true entities of the question that the reasoning mentions.'),
  goldenCalls: z
    .array(call)
    .optional()
    .describe('Tool calls of an expert on this task, like `turns[].calls`.'),
  neededCalls: count.optional().describe('Number of tool calls an expert needs for this task; without it 0.'),
  mode: z
    .string()
    .optional()
    .describe('How the question was answered, such as `instant`, `reasoning`, `agentic`.'),
};

const fields: Readonly<Record<string, z.ZodType>> = { ...turnFacts, ...trajectoryFacts };
const schema = z.strictObject({ ...turnFacts, ...trajectoryFacts });

/**
 * The facts in `value`, which stood in `info.credit`. Refuses unknown fields and values that fields do not have.
 *
 * @param subject who said it, for messages: `step()`
 * @throws TurnwiseError `config-unknown-key`, `config-invalid`
 */
export function parseFacts(value: Json, subject: string): Facts {
  const facts = factsByField(value);
  if (facts) return facts;
  const all = parseStrict(schema, value, subject, ['info', 'credit']);
  return Object.fromEntries(Object.entries(all).filter(([, fact]) => fact !== undefined));
}

/** A turn says one or two of them, and the whole schema takes a look at every field. Undefined: something is wrong. */
function factsByField(value: Json): Facts | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const facts: Record<string, unknown> = {};
  const said = value as JsonObject;
  for (const name of Object.keys(said)) {
    const fact = Object.hasOwn(fields, name) ? fields[name]!.safeParse(said[name]) : undefined;
    if (!fact?.success) return undefined;
    if (fact.data !== undefined) facts[name] = fact.data;
  }
  return facts;
}
