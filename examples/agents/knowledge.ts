/** A small company that is made up: who works where, and for whom. The facts that the example agents look up. */

import { Rng, type TeacherAnswer, type TeacherRequest } from 'turnwise';

const PEOPLE =
  'ada ben cleo dan eva finn gina hugo ida jack kara leo mia nora otto pia quin rosa sam tess umar vera walt yara'.split(
    ' ',
  );
const CITIES = ['lisbon', 'porto', 'lyon', 'paris', 'oslo', 'bergen', 'turin', 'rome'];
const COUNTRIES = ['portugal', 'portugal', 'france', 'france', 'norway', 'norway', 'italy', 'italy'];

const rng = Rng.of('company');
const offices = new Map(PEOPLE.map((person) => [person, rng.pick(CITIES)]));
const managers = new Map(
  PEOPLE.map((person) => [person, rng.pick(PEOPLE.filter((other) => other !== person))]),
);
const countries = new Map(CITIES.map((city, index) => [city, COUNTRIES[index]!]));

/** What the tools of every example agent do. */
export const lookUp = {
  manager: (person: string): string => managers.get(person) ?? 'unknown',
  office: (person: string): string => offices.get(person) ?? 'unknown',
  country: (city: string): string => countries.get(city) ?? 'unknown',
};
export type Tool = keyof typeof lookUp;

/** A question, and the tools that lead to its answer one after the other. */
export interface Question {
  readonly question: string;
  readonly person: string;
  readonly path: readonly Tool[];
  readonly answer: string;
}

const WORDINGS: readonly (readonly [wording: string, path: readonly Tool[]])[] = [
  ['who is the manager of PERSON', ['manager']],
  ['where does PERSON work', ['office']],
  ['where does the manager of PERSON work', ['manager', 'office']],
  ['in which country does PERSON work', ['office', 'country']],
  ['who is the manager of the manager of PERSON', ['manager', 'manager']],
  ['in which country does the manager of PERSON work', ['manager', 'office', 'country']],
];

const questions: readonly Question[] = Rng.of('questions').shuffle(
  PEOPLE.flatMap((person) =>
    WORDINGS.map(([wording, path]) => ({
      question: wording.replace('PERSON', person),
      person,
      path: [...path],
      answer: path.reduce((known, tool) => lookUp[tool](known), person),
    })),
  ),
);

/** Every third question is held out. */
export function questionsOf(split: 'train' | 'validation' | 'test'): Question[] {
  return questions.filter((_, index) => (index % 3 === 0) === (split === 'test'));
}

/** The name of a tool's only argument. */
export const argumentOf = (tool: Tool): 'person' | 'city' => (tool === 'country' ? 'city' : 'person');

/**
 * A teacher that knows the way and often leaves it: it asks about somebody else, takes another tool, or makes an answer up.
 * As a beginner it is hasty too, and answers with the first thing that it finds. Whoever imitates it is wrong more often
 * than right, also where they only do what they saw most; the rest is for reinforcement learning.
 */
export function teach({ task, messages, player, rng }: TeacherRequest<Question>): TeacherAnswer {
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const next = task.path[results.length];
  const known = results.at(-1) ?? task.person;
  const enough = next === undefined || (player === 'beginner' && results.length > 0);
  if (!rng.chance(0.15)) return enough ? { content: known } : call(next, known);
  const mistake = rng.int(3);
  if (mistake === 0) return call(next ?? 'office', rng.pick(PEOPLE));
  if (mistake === 1) return call(rng.pick(['manager', 'office', 'country']), known);
  return { content: rng.pick([...CITIES, ...PEOPLE]) };
}

function call(tool: Tool, value: string): TeacherAnswer {
  return { toolCalls: [{ name: tool, arguments: { [argumentOf(tool)]: value } }] };
}
