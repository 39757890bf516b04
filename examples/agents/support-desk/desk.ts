/** The desk as an agent, whatever SDK asks the model: a customer writes, the request is filed, and the clerk answers until the customer has gone. */

import { type Agent, type AgentEpisode, defineAgent, z } from 'turnwise';
import { customer } from './customer.ts';
import { KINDS, type Request, requestsOf, shop } from './customers.ts';
import { isSettled, settle } from './rules.ts';
import { teach } from './teacher.ts';
import type { Desk } from './tools.ts';

/** The structured answer of the first step. */
export const filing = z.object({ kind: z.enum(KINDS) });

/** The SDK's part: two ways to ask the model. */
export interface Clerk {
  /** Asks for a structured answer about the customer's first words. @returns its text, whether or not it has the form */
  file(words: string): Promise<string>;
  /** Goes on with the conversation, running tools until there are words for the customer. */
  answer(words: string): Promise<string>;
}

/** Steps of the clerk between two messages to the customer. */
export const MOST_STEPS = 5;

export function deskAgent(
  name: string,
  description: string,
  clerkOf: (episode: AgentEpisode<Request>, desk: Desk) => Clerk,
): Agent<Request> {
  return defineAgent<Request>({
    name,
    description,
    tasks: requestsOf,
    users: { customer },
    maxCalls: 24,
    async run(episode) {
      const { task } = episode;
      const desk: Desk = { customer: task.customer, database: shop };
      const clerk = clerkOf(episode, desk);
      const customer = episode.user('customer');
      let words = await customer.reply();
      let turns = 0;
      if (words !== undefined) file(desk, task.customer, await clerk.file(words));
      while (words !== undefined) {
        turns++;
        words = await customer.reply(await clerk.answer(words));
      }
      const success = isSettled(task, desk.database);
      const { escalations } = desk.database;
      return {
        reward: success ? 1 : 0,
        success,
        metrics: { turns, escalated: escalations.length },
        info: { cases: desk.database.cases, escalations },
      };
    },
    demonstrate: teach,
    // The call that settles the request, as small models write it.
    truth: (task) => {
      const { name, arguments: given } = settle(task);
      return ['<call>', name, ...Object.entries(given).map(([key, value]) => `${key}: ${value}`)].join(' ');
    },
    settings: {
      steps: 60,
      // Copying an address that was just told is learned last: after 300 steps one in sixteen is right, by chance.
      clone: { demonstrations: 3000, beginnerShare: 0.8, steps: 900 },
      optimizer: { learningRate: 3e-4 },
      rollout: { tasks: 16, group: 8, concurrency: 128 },
      evaluation: { every: 10, tasks: 40, finalTasks: 120 },
    },
  });
}

/** What the filing step said goes into the database; what cannot be read is filed as unclear. */
function file(desk: Desk, customer: string, text: string): void {
  let kind = 'unclear';
  try {
    kind = filing.parse(JSON.parse(text)).kind;
  } catch {
    // The policy's own mistake: the case stands as it is.
  }
  desk.database = { ...desk.database, cases: [...desk.database.cases, { customer, kind }] };
}
