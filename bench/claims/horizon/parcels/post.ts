/** A post office: a letter, some words long and new in every episode, is fetched and sent on, word for word. */

import { defineTool, defineTools } from 'turnwise/env';
import { z } from 'zod';

const PEOPLE = ['ann', 'ben', 'cleo', 'dan', 'eve', 'finn', 'gil', 'hal'];
const WORDS = 'oak elm ash fir yew bay fig box gum nut'.split(' ');
const LENGTH = 24;

interface Errand {
  readonly from: string;
  readonly to: string;
}

interface Office {
  /** By whoever wrote it. */
  readonly letters: Readonly<Record<string, string>>;
  sent?: { readonly to: string; readonly text: string };
}

const fetch = defineTool({
  name: 'fetch',
  description: 'Read the letter of a person.',
  parameters: z.object({ of: z.string() }),
  run: ({ of }, { letters }: Office) => letters[of] ?? 'none',
});

const send = defineTool({
  name: 'send',
  description: 'Send a text to a person.',
  parameters: z.object({ to: z.string(), text: z.string() }),
  ends: true,
  run: ({ to, text }, office: Office) => {
    office.sent = { to, text };
    return 'sent';
  },
});

const errands: Errand[] = PEOPLE.flatMap((from) =>
  PEOPLE.filter((to) => to !== from).map((to) => ({ from, to })),
);

export const post = defineTools<Errand, Office>({
  name: 'post',
  description: 'Fetch the letter of one person and send it to another, word for word.',
  maxTurns: 5,
  tasks: errands,
  tools: [fetch, send],
  setup: (_task, _signal, rng) => ({
    letters: Object.fromEntries(
      PEOPLE.map((person) => [person, Array.from({ length: LENGTH }, () => rng.pick(WORDS)).join(' ')]),
    ),
  }),
  prompt: ({ from, to }) => `letter of ${from} to ${to}`,
  score: ({ task }, { letters, sent }) => ({
    reward: sent?.to === task.to && sent.text === letters[task.from] ? 1 : 0,
  }),
  solve: ({ task, calls }, { letters }) => {
    const isFetched = calls.some(({ tool, arguments: { of } }) => tool === 'fetch' && of === task.from);
    return isFetched
      ? { tool: 'send', arguments: { to: task.to, text: letters[task.from]! } }
      : { tool: 'fetch', arguments: { of: task.from } };
  },
});
