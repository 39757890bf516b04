/** The options of `turnwise eval` that search for the episode of each task, and how the figures of a search are told. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { canBranch, policyRoles, type World } from '../../env/world.ts';
import {
  type SearchName,
  type SearchSize,
  searches,
  searchNames,
} from '../../rollout/explore/named-searches.ts';
import type { Search } from '../../rollout/explore/searched.ts';

const DEFAULTS: SearchSize = { width: 4, episodes: 16 };

/** What the command line says of a search. */
export const searchOptions = {
  search: z
    .enum(searchNames)
    .optional()
    .describe(
      `Search for the episode of each task, too: ${searchNames.map((name) => `${name}, ${searches[name].summary}`).join('; ')}`,
    ),
  width: z
    .int()
    .min(1)
    .optional()
    .describe(`Actions that best-of-turns and mcts try at a turn; ${DEFAULTS.width} by default`),
  episodes: z
    .int()
    .min(1)
    .optional()
    .describe(`Episodes of a task that best-of and mcts play; ${DEFAULTS.episodes} by default`),
};

/** A search that was asked for. */
export interface AskedSearch {
  readonly search: Search;
  /** As many times the turns of an episode are played for each task, at most. */
  readonly times: number;
  /** For JSON. */
  readonly facts: { readonly name: SearchName; readonly choice: string } & Partial<SearchSize>;
  /** For people. */
  readonly sentence: string;
}

type Given = { readonly [Name in keyof typeof searchOptions]?: z.output<(typeof searchOptions)[Name]> };

/**
 * The search that the options ask for, in this world.
 *
 * @param valuesOf what a critic expects, where the recipe has one
 * @throws TurnwiseError `option-value` for what the search or the world has no use for
 */
export function askedSearch(
  { search: name, ...sizes }: Given,
  world: World,
  valuesOf: Search['valuesOf'],
  record: string | undefined,
): AskedSearch | undefined {
  const given = Object.entries(sizes).filter(([, value]) => value !== undefined);
  if (name === undefined) {
    const [lone] = given;
    if (lone)
      throw refused(
        lone[0],
        `--${lone[0]} is the size of a search`,
        String(lone[1]),
        'Add --search NAME, or leave it out',
      );
    return undefined;
  }
  const found = searches[name];
  for (const [size, value] of given) {
    if (!found.reads.includes(size as keyof SearchSize))
      throw refused(
        size,
        `--search ${name} does not read --${size}`,
        String(value),
        `Leave it out, or set ${found.reads.map((one) => `--${one}`).join(', ')}`,
      );
  }
  if (record !== undefined)
    throw refused(
      'record',
      '--record keeps every episode that is played, and a search counts one of many',
      record,
      'Leave out --record or --search',
    );
  const roles = policyRoles(world);
  if (roles.length !== 1)
    throw refused(
      'search',
      'A search goes by the rewards of one role',
      `${world.name} with the roles ${roles.join(', ')}`,
      'Leave it out, or name an environment with one role',
    );
  if (found.branches && !canBranch(world))
    throw refused(
      'search',
      `--search ${name} goes on from places of episodes, which ${world.name} does not allow`,
      world.agent ? 'an agent' : 'neither pure, nor with snapshots, nor one that repeats',
      'Use --search best-of, which plays whole episodes',
    );
  const size: SearchSize = { ...DEFAULTS, ...Object.fromEntries(given) };
  const own = Object.fromEntries(found.reads.map((one) => [one, size[one]]));
  const critic = valuesOf && found.branches;
  const choice = found.knowsOutcomes ? 'outcomes' : critic ? 'rewards and critic' : 'rewards';
  return {
    search: { ...found.open(size, roles[0]!), ...(critic && { valuesOf }) },
    times: found.reads.includes('episodes') ? size.episodes : size.width,
    facts: { name, choice, ...own },
    sentence: `searched: ${name}, ${found.reads.map((one) => `${one} ${size[one]}`).join(', ')}; the episode that counts is chosen by ${CHOICES[choice]}`,
  };
}

const CHOICES = {
  outcomes: 'its outcome, so that its success is an upper bound',
  'rewards and critic': 'rewards so far and what the critic expects',
  rewards: 'rewards so far, since the recipe has no critic',
} as const;

function refused(option: string, what: string, seen: string, next: string): TurnwiseError {
  return new TurnwiseError('option-value', { what, seen, next, fields: { option: `--${option}` } });
}
