/**
 * An album of five pages, of which the first is open: one of them says where a person is. Demonstrations leaf through more of it than
 * is needed, mostly to the end.
 */

import { defineTool, defineTools } from 'turnwise/env';
import { z } from 'zod';

const PLACES = ['oak', 'elm', 'ash', 'fir', 'yew', 'bay', 'fig', 'box'];
const PAGES = 5;
const NOTHING = 'nobody';

interface Question {
  readonly place: string;
  /** The page that says so. */
  readonly page: number;
}

interface Album extends Question {
  /** The page to which a demonstration leafs at least. */
  readonly habit: number;
  open: number;
  answer?: string;
}

const shown = ({ place, page }: Question, open: number): string => (open === page ? place : NOTHING);

const leaf = defineTool({
  name: 'leaf',
  description: 'Turn to the next page.',
  parameters: z.object({}),
  run: (_given, album: Album) => {
    album.open += 1;
    return shown(album, album.open);
  },
});

const answer = defineTool({
  name: 'answer',
  description: 'Say where the person is.',
  parameters: z.object({ place: z.string() }),
  ends: true,
  run: ({ place }, album: Album) => {
    album.answer = place;
    return 'done';
  },
});

const questions: Question[] = PLACES.flatMap((place) =>
  Array.from({ length: PAGES }, (_, page) => ({ place, page })),
);

export const album = defineTools<Question, Album>({
  name: 'album',
  description: 'Say where a person is, which stands on one of five pages.',
  maxTurns: PAGES + 2,
  tasks: questions,
  tools: [leaf, answer],
  setup: (question, _signal, rng) => {
    const habit = Math.max(question.page, rng.int(PAGES), rng.int(PAGES));
    return { ...question, habit, open: 0 };
  },
  prompt: (question) => shown(question, 0),
  score: ({ task }, { answer: given }) => ({ reward: given === task.place ? 1 : 0 }),
  solve: (_task, { place, habit, open }) =>
    open < habit ? { tool: 'leaf', arguments: {} } : { tool: 'answer', arguments: { place } },
});
