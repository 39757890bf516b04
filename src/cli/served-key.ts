/** The keys and names of the servers that commands start. */

import { z } from 'zod';
import { newKey } from '../server/guard/secrets.ts';

export const allowHostOption = z
  .array(z.string().regex(/^[^\s/:]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i, 'a name, or name:port'))
  .default([])
  .describe('Name by which clients reach the server from other machines or containers; may be repeated');

export interface ServedKey {
  readonly value: string;
  /** The variable that it is taken from, by this command and by clients. */
  readonly variable: string;
  /** Nobody knows it yet. */
  readonly isNew: boolean;
}

/** The key in a variable, or a new one. */
export function servedKey(
  variable: string,
  prefix: string,
  environment: NodeJS.ProcessEnv = process.env,
): ServedKey {
  const given = environment[variable];
  return given ? { value: given, variable, isNew: false } : { value: newKey(prefix), variable, isNew: true };
}

/** For the greeting of a server: only a new key is told. */
export function shownKey({ value, variable, isNew }: ServedKey): string {
  return isNew ? `${value}  (made for this start; ${variable} sets another)` : `that of ${variable}`;
}
