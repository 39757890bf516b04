/** The columns of the matrix: what is talked about in each, and what the record must say of it. */

import { expect } from 'vitest';
import { AGAIN, type Desks, QUESTION, SYSTEM } from './desk.ts';
import type { Column, Row, Talk } from './row.ts';
import type { SeenCell } from './seen.ts';

interface Expected {
  readonly calls: number;
  readonly paths: number;
  readonly reasons: readonly string[];
}

const turns: Talk = {
  system: SYSTEM,
  questions: [QUESTION, AGAIN],
  tools: true,
  stream: false,
  structured: false,
  previous: false,
  rewrite: false,
};
const looked: Expected = { calls: 3, paths: 1, reasons: [] };
const columns: Record<
  Column,
  { readonly talk: Talk; readonly cities: readonly string[]; readonly expected: Expected }
> = {
  plain: { talk: { ...turns, tools: false }, cities: [], expected: { ...looked, calls: 2 } },
  tools: { talk: turns, cities: ['Zürich'], expected: looked },
  parallel: { talk: turns, cities: ['Zürich', 'Paris'], expected: looked },
  streaming: { talk: { ...turns, stream: true }, cities: ['Zürich', 'Paris'], expected: looked },
  structured: {
    talk: { ...turns, structured: true, system: `${SYSTEM}STRUCTURED` },
    cities: ['Zürich'],
    expected: looked,
  },
  'previous id': { talk: { ...turns, previous: true }, cities: ['Zürich'], expected: looked },
  conversations: { talk: turns, cities: ['Zürich'], expected: { calls: 6, paths: 2, reasons: [] } },
  rewritten: {
    talk: { ...turns, rewrite: true },
    cities: ['Zürich'],
    expected: { calls: 3, paths: 2, reasons: ['foreign-words'] },
  },
};

/** @returns the calls and paths of a conversation in which nothing was lost */
export async function hold(desks: Desks, row: Row, column: Column): Promise<SeenCell> {
  const { talk, cities, expected } = columns[column];
  const others = column === 'conversations' ? [{ ...talk, questions: [`Now. ${QUESTION}`, AGAIN] }] : [];
  const talks = [talk, ...others];
  let answers: readonly string[] = [];
  const {
    calls,
    paths,
    reasons,
    lost,
    cities: asked,
  } = await desks.run(cities, async (desk) => {
    answers = await Promise.all(talks.map((one) => row.talk(desk, one)));
  });
  for (const answer of answers) {
    if (talk.structured) expect(JSON.parse(answer)).toEqual({ city: 'Zürich', degrees: 21 });
    else expect(answer.trim()).toBe('It is 21 degrees\u00a0there.');
  }
  expect(lost).toBe(0);
  expect({ calls, paths, reasons }).toEqual({ ...expected, ...row.edits?.[column] });
  expect([...asked].sort()).toEqual(talks.flatMap(() => cities).sort());
  return { calls, paths };
}
