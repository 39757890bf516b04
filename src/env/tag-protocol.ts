/** The tag protocol: exactly one `<action>…</action>` in the completion, with any reasoning around it. */

import type { ActionProtocol } from './protocol.ts';

const OPEN = '<action>';
const CLOSE = '</action>';
const REMEDY = `Write exactly one ${OPEN}…${CLOSE}.`;

export const tagProtocol: ActionProtocol = {
  name: 'tags',
  instructions: `You may reason first. Then write your action once, between ${OPEN} and ${CLOSE}.`,
  format: (action) => `${OPEN}${action}${CLOSE}`,
  thought: (text) => text.slice(0, text.includes(OPEN) ? text.lastIndexOf(OPEN) : undefined),
  parse: (text) => {
    const opened = text.split(OPEN).length - 1;
    const closed = text.split(CLOSE).length - 1;
    const problem = (what: string) => ({ ok: false, problem: `${what} ${REMEDY}` }) as const;
    if (opened === 0 && closed === 0) return problem('No action was found.');
    if (opened === 0) return problem(`${CLOSE} has no ${OPEN} before it.`);
    if (closed === 0) return problem(`${OPEN} was not closed with ${CLOSE}.`);
    if (opened > 1 || closed > 1)
      return problem(`Seen ${opened} times ${OPEN} and ${closed} times ${CLOSE}.`);
    const start = text.indexOf(OPEN) + OPEN.length;
    const end = text.indexOf(CLOSE);
    if (end < start) return problem(`${CLOSE} came before ${OPEN}.`);
    const action = text.slice(start, end).trim();
    return action === '' ? problem('The action was empty.') : { ok: true, action };
  },
};

/**
 * The same with spaces around the action. A model of words then ends its thoughts with a word of its own, which can be imitated
 * with them, and acts with the words that it thinks with.
 */
export const spacedTagProtocol: ActionProtocol = {
  ...tagProtocol,
  format: (action) => `${OPEN} ${action} ${CLOSE}`,
};
