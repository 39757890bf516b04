/**
 * A library of experiences in the prompt: training-free GRPO, arXiv 2510.08191. The proposer compares the episodes of a group, whose
 * difference is an advantage in words, and changes the list of experiences that all episodes read.
 *
 * Weights may learn beside it, or stay as they are (`prompts.alone=true`).
 *
 * 1. Groups whose outcomes are all alike are skipped; the paper skips those that are all right or all wrong.
 * 2. An answer that cannot be read is asked for again, `retries` times, then the group changes nothing.
 * 3. The list has at most `most` experiences: the oldest go.
 */

import { z } from 'zod';
import { type Message, system, user } from '../core/messages.ts';
import { type Operation, operationsIn, withOperations } from './operations.ts';
import { outcomeOf, outcomesOf, round, transcriptOf } from './outcomes.ts';
import { type DefinedPrompts, definePrompts, type PromptedGroup } from './prompt-source.ts';
import type { Propose } from './proposer.ts';

type Memory = { readonly experiences: readonly string[] };

export const experiences: DefinedPrompts = definePrompts({
  name: 'experiences',
  summary: 'an instruction with a list of experiences, which a comparison of each group’s episodes changes',
  proposes: true,
  options: z.strictObject({
    instruction: z.string().default('').describe('What stands before the experiences'),
    heading: z.string().default('What earlier attempts taught:').describe('The line above them'),
    initial: z.array(z.string()).default([]).describe('The first experiences'),
    most: z.int().min(1).default(24).describe('Experiences, at most'),
    groups: z.int().min(1).default(8).describe('Groups of a step that are compared, at most'),
    candidates: z.int().min(1).default(2).describe('Changes that one group may ask for'),
    summaries: z
      .boolean()
      .default(true)
      .describe('Whether each episode is summarised before its group is compared'),
    retries: z.int().min(0).default(3).describe('How often an answer that cannot be read is asked for again'),
    transcript: z.int().min(100).default(3000).describe('Characters of an episode that the proposer reads'),
  }),
  start: ({ initial }): Memory => ({ experiences: initial }),
  ask: ({ memory, options }) => promptOf(memory, options),
  best: ({ memory, options }) => promptOf(memory, options),
  async tell(groups, { memory, options, rng, propose }) {
    const telling = rng.shuffle(groups.filter(differs)).slice(0, options.groups);
    const compared = await Promise.all(telling.map((one) => changesOf(one, memory, options, propose)));
    const asked = compared.filter((operations) => operations.length > 0);
    if (asked.length === 0) return memory;
    const plan =
      asked.length === 1
        ? asked[0]!
        : ((await readable(propose, mergeQuestion(asked, memory), options.retries)) ?? asked.flat());
    return { experiences: withOperations(memory.experiences, plan).slice(-options.most) };
  },
});

type Options = {
  readonly instruction: string;
  readonly heading: string;
  readonly candidates: number;
  readonly summaries: boolean;
  readonly retries: number;
  readonly transcript: number;
};

function promptOf(memory: Memory, { instruction, heading }: Options): string {
  if (memory.experiences.length === 0) return instruction;
  return [...(instruction === '' ? [] : [instruction]), heading, listed(memory)].join('\n');
}

const listed = ({ experiences: all }: Memory): string =>
  all.map((text, index) => `[G${index}] ${text}`).join('\n');

/** Whether its episodes earned different things. */
export function differs({ group }: PromptedGroup): boolean {
  return new Set(outcomesOf(group)).size > 1;
}

/** What a group says is to change: nothing where nobody answered. */
async function changesOf(
  { group }: PromptedGroup,
  memory: Memory,
  options: Options,
  propose: Propose,
): Promise<readonly Operation[]> {
  const told = await Promise.all(
    group.members.map(async (episode) => {
      const transcript = transcriptOf(group, episode, options.transcript);
      if (!options.summaries) return transcript;
      const summary = await propose(summaryQuestion(transcript));
      return `${summary?.trim() || transcript}\noutcome: ${round(outcomeOf(group, episode))}`;
    }),
  );
  const operations = await readable(
    propose,
    compareQuestion(told, memory, options.candidates),
    options.retries,
  );
  return (operations ?? []).slice(0, options.candidates);
}

/** The first answer that can be read. */
async function readable(
  propose: Propose,
  question: readonly Message[],
  retries: number,
): Promise<readonly Operation[] | undefined> {
  for (let attempt = 0; attempt <= retries; attempt++) {
    const answer = await propose(question);
    // Nobody is there: asking again would not help.
    if (answer === undefined) return undefined;
    const operations = operationsIn(answer);
    if (operations) return operations;
  }
  return undefined;
}

const FORM =
  'Answer with a JSON array alone. Each entry is {"op":"ADD","text":"…"}, {"op":"UPDATE","id":"G0","text":"…"} or {"op":"DELETE","id":"G0"}; [] changes nothing. An experience is one general sentence of advice that helps with other tasks of this kind, too.';

const summaryQuestion = (transcript: string): Message[] => [
  system('Summarise this episode of an agent step by step: what it did, why, and where it helped or harmed.'),
  user(transcript),
];

const compareQuestion = (told: readonly string[], memory: Memory, most: number): Message[] => [
  system(
    `You keep a list of experiences for an agent. Compare its attempts at one task: what made the better ones better? Ask for at most ${most} changes to the list. ${FORM}`,
  ),
  user(
    `The list:\n${listed(memory) || '(empty)'}\n\n${told.map((text, index) => `Attempt ${index + 1}\n${text}`).join('\n\n')}`,
  ),
];

const mergeQuestion = (asked: readonly (readonly Operation[])[], memory: Memory): Message[] => [
  system(
    `You keep a list of experiences for an agent. Several comparisons ask for changes to it. Merge them into one plan without repetitions or contradictions. ${FORM}`,
  ),
  user(`The list:\n${listed(memory) || '(empty)'}\n\nThe changes:\n${JSON.stringify(asked.flat())}`),
];
