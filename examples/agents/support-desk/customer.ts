/** The simulated customer: a script, or a model that plays the same person (CUSTOMER=openai:URL#MODEL). */

import { simulateUser } from 'turnwise/env';
import { itemsText, type Request } from './customers.ts';

/** Questions that a customer answers before losing patience. */
const PATIENCE = 4;

export const customer = simulateUser<Request>({
  persona: ({ customer, opening }) =>
    `You are ${customer}, a customer of a shop, and write to its support desk. You begin with: "${opening}".`,
  facts: ({ kind, items, address }) => ({
    'what it is about, as far as you know': items.join(' or '),
    ...(kind === 'address' && { 'your new address': address }),
  }),
  policy:
    process.env.CUSTOMER ??
    (({ task, said, turn }) => {
      if (said === undefined) return task.opening;
      if (turn > PATIENCE || /\bdone\b|\bcolleague\b/.test(said)) return undefined;
      if (/\baddress\b/.test(said) && task.kind === 'address') return `it is ${task.address}`;
      if (/\border\b/.test(said)) return itemsText(task.items);
      return 'i do not understand';
    }),
});
