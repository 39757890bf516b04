/**
 * A scripted clerk for models made from scratch. The expert follows the rules; the beginner knows the moves and often takes
 * the wrong one. A model that imitates mostly beginners is wrong more often than right, and the rest is for reinforcement learning.
 */

import type { TeacherAnswer, TeacherRequest } from 'turnwise';
import { KINDS, type Request } from './customers.ts';
import { settle } from './rules.ts';

const SLIP = 0.5;

const say = (content: string): TeacherAnswer => ({ content });

export function teach({ task, messages, tools, player, rng }: TeacherRequest<Request>): TeacherAnswer {
  const slips = player === 'beginner' && rng.chance(SLIP);
  if (tools.length === 0) return say(JSON.stringify({ kind: slips ? rng.pick(KINDS) : task.kind }));
  const heard = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls);
  const acted = calls.findLast(({ name }) => name !== 'find_order');
  if (acted) return say(acted.name === 'escalate' ? 'a colleague will write to you' : 'it is done');
  const told = task.items.filter((item) => heard.some((words) => words.includes(item)));
  if (told.length === 0) return say('which order is it');
  const unseen = told.filter((item) => calls.every((call) => call.arguments.item !== item));
  if (unseen.length > 0) {
    return { toolCalls: unseen.map((item) => ({ name: 'find_order', arguments: { item } })) };
  }
  const right = settle(task);
  const move = slips ? slip(task, rng) : right;
  const known = heard.some((words) => words.includes(task.address));
  if (move.name === 'change_address' && !known) return say('what is the new address');
  return { toolCalls: [move] };
}

/** A move that the desk has, taken at random. */
function slip({ items, address }: Request, rng: TeacherRequest['rng']): ReturnType<typeof settle> {
  const item = rng.pick(items);
  return rng.pick([
    { name: 'refund', arguments: { item } } as const,
    { name: 'change_address', arguments: { item, address } } as const,
    { name: 'escalate', arguments: { item, reason: rng.pick(['late', 'expensive', 'shipped']) } } as const,
  ]);
}
