/** What a context strategy gives, checked: conversations with everything that they refer to, states that are plain JSON. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import type { Call, Part } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { plainCopy } from '../../core/json/plain-copy.ts';
import type { Message, ToolDeclaration } from '../../core/messages.ts';
import { isThenable, thrownText } from '../../core/safe-text.ts';
import type { GrowingList } from '../../model/chat/growing-list.ts';
import type { Said } from '../../model/chat/renderer.ts';
import type { Conversation, Window } from './strategy.ts';

/** A conversation in which everything that it refers to is at hand. */
export interface Resolved {
  readonly parts: readonly Part[];
  /** What the parts say. */
  readonly said: readonly Said[];
  /** Whether all turns so far come before. */
  readonly all: boolean;
  /** Whether the latest call, and all that it read, come before. */
  readonly goesOn: boolean;
  readonly tools?: readonly ToolDeclaration[];
}

/** Run the code of a strategy, at once or not. @throws TurnwiseError `definition-failed` for whatever it throws */
export function callStrategy<T>(subject: string, work: () => T | PromiseLike<T>): T | PromiseLike<T> {
  const failed = (cause: unknown): unknown =>
    TurnwiseError.isInstance(cause)
      ? cause
      : new TurnwiseError('definition-failed', {
          what: `${subject} threw an error`,
          seen: thrownText(cause),
          next: 'Correct it, then run the same command again',
          fields: { definition: subject },
          cause,
        });
  let result: T | PromiseLike<T>;
  try {
    result = work();
  } catch (cause) {
    throw failed(cause);
  }
  if (!isThenable(result)) return result;
  return Promise.resolve(result as PromiseLike<T>).catch((cause: unknown) => {
    throw failed(cause);
  });
}

/** The messages, completions and tools of a conversation. */
export function resolved(
  subject: string,
  conversation: Conversation,
  calls: GrowingList<Call>,
  known: readonly Message[],
): Resolved {
  return callDefinition(subject, () => {
    const { all = false, goesOn = false, parts, tools } = conversation ?? {};
    if (!Array.isArray(parts)) {
      throw badDefinition(
        subject,
        'must give conversations',
        conversation,
        '{ parts, tools? } with an array of parts',
      );
    }
    if (typeof all !== 'boolean')
      throw badDefinition(subject, 'must say whether all turns come first', all, '`all` as true or false');
    if (typeof goesOn !== 'boolean' || (goesOn && (all || calls.length === 0))) {
      throw badDefinition(
        subject,
        'must say what it goes on from',
        goesOn,
        '`goesOn` as true, without `all` and after a call, or as false',
      );
    }
    const kept: Part[] = [];
    const said: Said[] = [];
    // Parts mostly name one call after another.
    let next = 0;
    const callOf = (id: unknown): Call => {
      const near =
        calls.at(next)?.id === id ? next : next > 0 && calls.at(next - 1)?.id === id ? next - 1 : -1;
      const index = near >= 0 ? near : calls.toArray().findIndex((call) => call.id === id);
      next = index + 1;
      if (index >= 0) return calls.at(index)!;
      const allowed = calls.length === 0 ? 'none, as there are no calls yet' : 'ids of view.calls';
      throw badDefinition(subject, 'names a call that is not in its conversation', id, allowed);
    };
    for (const part of parts as readonly Part[]) {
      if (known.includes(part as Message)) {
        kept.push(part);
        said.push(part as Message);
      } else if ('call' in part) {
        kept.push(part);
        said.push(callOf(part.call));
      } else if ('shown' in part) {
        kept.push(part);
        said.push(...callOf(part.shown).messages);
      } else {
        const [message] = plainMessages(subject, [part]);
        kept.push(message!);
        said.push(message!);
      }
    }
    return {
      parts: kept,
      said,
      all,
      goesOn,
      ...(tools !== undefined && { tools: plainTools(subject, tools) }),
    };
  });
}

const ROLES: readonly unknown[] = ['system', 'user', 'assistant', 'tool'] satisfies Message['role'][];

/** Messages as plain JSON, whatever they were made of. */
export function plainMessages(subject: string, messages: unknown): readonly Message[] {
  const copy = plain(subject, messages, 'messages');
  const list = Array.isArray(copy) ? (copy as readonly Partial<Message>[]) : undefined;
  const odd = list?.find((one) => !ROLES.includes(one?.role) || typeof one.content !== 'string');
  if (list && odd === undefined) return list as readonly Message[];
  throw badDefinition(
    subject,
    'must give messages',
    JSON.stringify(odd ?? copy)?.slice(0, 200),
    'messages { role, content }, { call: id } or { shown: id }',
  );
}

function plainTools(subject: string, tools: unknown): readonly ToolDeclaration[] {
  const copy = plain(subject, tools, 'tools');
  const list = Array.isArray(copy) ? (copy as readonly Partial<ToolDeclaration>[]) : undefined;
  if (list?.every((tool) => typeof tool?.name === 'string')) {
    const names = list.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined)
      throw badDefinition(subject, 'must declare each tool once', twice, 'tools with names of their own');
    return list.map(({ name = '', description = '', parameters = { type: 'object', properties: {} } }) => ({
      name,
      description,
      parameters,
    }));
  }
  throw badDefinition(subject, 'must declare tools', copy, 'an array of { name, description, parameters }');
}

/** A state as plain JSON of its own, which nobody else can change. */
export function plainState(subject: string, state: unknown): Json {
  return state === null ? null : plain(subject, state, 'state');
}

function plain(subject: string, value: unknown, path: string): Json {
  const copied = plainCopy(value, path);
  if (copied.ok) return copied.value;
  throw badDefinition(
    subject,
    `must give plain JSON as ${path}`,
    `${copied.seen} at ${copied.path}`,
    copied.allowed,
  );
}

/** @throws TurnwiseError `definition-invalid` */
export function checkedWindow(subject: string, given: unknown): Window {
  return callDefinition(subject, () => {
    const { stop, conversation } = (given ?? {}) as {
      readonly stop?: unknown;
      readonly conversation?: unknown;
    };
    const state = (given as { readonly state?: unknown } | null | undefined)?.state;
    if (stop === 'context-overflow') return { stop };
    if (typeof conversation === 'object' && conversation !== null && state !== undefined) {
      return { conversation: conversation as Conversation, state: plainState(subject, state) };
    }
    throw badDefinition(
      subject,
      'must return a window',
      given,
      "{ conversation, state }, or { stop: 'context-overflow' }",
    );
  });
}
