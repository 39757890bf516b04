/** Of a world of worlds: which of them an episode is played in, and what is its own there. */

import { refused } from '../replies.ts';
import type { Session } from '../session.ts';
import type { World } from '../world.ts';

/** A world within a world, as its episodes differ from those of the others. */
export interface WorldPart {
  readonly name: string;
  readonly protocol: World['protocol'];
  readonly maxTurns: number;
}

/** How actions are read and how long an episode may be: of the part that it is played in, or of the whole world. */
export function partOf(world: World, session: Session): WorldPart {
  return session.part ?? world;
}

/** Checks a session's part; the protocol's functions stay the author's own. */
export function checkedPart(part: unknown): WorldPart | undefined {
  if (part === undefined) return undefined;
  const { name, protocol, maxTurns } = Object(part) as Partial<WorldPart>;
  const isProtocol = typeof protocol?.parse === 'function' && typeof protocol.format === 'function';
  if (typeof name === 'string' && isProtocol && Number.isInteger(maxTurns) && maxTurns! >= 1) {
    return { name, protocol, maxTurns: maxTurns! };
  }
  throw refused('part', 'something else', '{ name, protocol, maxTurns }');
}
