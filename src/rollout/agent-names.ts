/**
 * Names of agents that exchange the roles of a game: each reads its own before anything else, so that one policy can be
 * several agents, as one network is several where it is told which it is.
 */

import type { Message } from '../core/messages.ts';
import type { Role } from '../env/session.ts';

/** Which agent has which role. */
export type AgentNames = Readonly<Record<Role, string>>;

/** `agent1`, `agent2`, … at the roles in order, after so many exchanges: each time a role goes to the next agent. */
export function agentNames(roles: readonly Role[], exchanges: number): AgentNames {
  const count = roles.length;
  return Object.fromEntries(roles.map((role, place) => [role, `agent${((place + exchanges) % count) + 1}`]));
}

/** The messages with the name at the beginning of the first that is not the system's, or as one of its own. */
export function addressed(messages: readonly Message[], name: string): readonly Message[] {
  const place = messages.findIndex(({ role }) => role !== 'system');
  if (place < 0) return [...messages, { role: 'user', content: name }];
  return messages.map((message, index) =>
    index === place ? { ...message, content: `${name} ${message.content}` } : message,
  );
}
