/** What a call is for, as whoever asked declares it: an act of the agent, or anything else that is trained with one. */

import { badRequest } from './api-error.ts';

/** The purpose of a call whose answer is an action of the agent; of calls of the policy where nothing else is declared. */
export const ACT = 'act';

/** Of calls to other models, which are no acts of the agent, where nothing else is declared. */
export const CONSULT = 'consult';

/** The header in which a client declares what a call is for. */
export const PURPOSE_HEADER = 'x-turnwise-purpose';

/** @throws ApiError 400 for what cannot be a name */
export function readPurpose(given: string | undefined): { readonly purpose?: string } {
  if (given === undefined) return {};
  if (/^[a-z][a-z0-9-]{0,31}$/.test(given)) return { purpose: given };
  throw badRequest(
    'invalid_purpose',
    'The purpose of a call is up to 32 lower-case letters, digits and hyphens, such as "act" or "summarize".',
    PURPOSE_HEADER,
  );
}
