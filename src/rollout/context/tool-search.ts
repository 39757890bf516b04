/** The tools of a memory of tools: one finds others by words, one removes some. */

import type { Call } from '../../core/episode.ts';
import type { ToolDeclaration } from '../../core/messages.ts';

export const SEARCH = 'search_tools';
export const REMOVE = 'remove_tools';

const declared = (name: string, description: string, key: string, about: string): ToolDeclaration => ({
  name,
  description,
  parameters: {
    type: 'object',
    properties: { [key]: { type: 'string', description: about } },
    required: [key],
    additionalProperties: false,
  },
});

const search = declared(
  SEARCH,
  'Find tools by words, and load them.',
  'query',
  'Words of its name or description',
);
const remove = declared(
  REMOVE,
  'Remove loaded tools.',
  'names',
  'Names of loaded tools, with spaces between',
);

/** What the policy has besides the tools that are loaded. */
export function ownTools(mode: 'autonomous' | 'workflow' | 'hybrid'): readonly ToolDeclaration[] {
  if (mode === 'workflow') return [];
  return mode === 'hybrid' ? [search] : [search, remove];
}

export const nameIn = ({ name }: ToolDeclaration): string => name;

export const namesIn = (text: string): string[] => text.split(/[\s,]+/).filter((name) => name !== '');

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

/**
 * Names of the tools that a query is about, the nearest first: words of the name count three times those of the description,
 * and the name itself most. Equal ones stand in the order in which they were declared.
 */
export function found(
  tools: readonly ToolDeclaration[],
  query: string,
  loaded: readonly string[],
  most: number,
): string[] {
  const words = new Set(wordsOf(query));
  const named = new Set(namesIn(query));
  const hits = (text: string): number => new Set(wordsOf(text).filter((word) => words.has(word))).size;
  return tools
    .map(({ name, description }) => ({
      name,
      score: (named.has(name) ? 1000 : 0) + 3 * hits(name) + hits(description),
    }))
    .filter(({ name, score }) => score > 0 && !loaded.includes(name))
    .sort((one, other) => other.score - one.score)
    .slice(0, most)
    .map(({ name }) => name);
}

/** The tool that a call was to be of and that was not offered. */
export const refusedTool = ({ reply }: Call): string | undefined =>
  /^there is no tool "(.+)"$/.exec(reply?.problem ?? '')?.[1];
