/** Recorded calls, rendered: the prompts that a renderer makes of what their record says that each read. */

import type { Call, Episode, Group } from '../core/episode.ts';
import type { Message } from '../core/messages.ts';
import type { Sequence } from '../model/chat/growing-list.ts';
import type { Renderer, Said } from '../model/chat/renderer.ts';
import { linkOf, pathAfter, promptAfter, type TokenPath, withPath } from '../model/chat/token-path.ts';

/**
 * The group as the policy would have seen and written it, token by token: each call with the parts that its record says, or
 * with what came before it and what it showed.
 */
export function renderDemonstrations(group: Group, renderer: Renderer): Group {
  const members = group.members.map((episode) => ({
    ...episode,
    calls: renderCalls(episode, renderer, (call) => encodedAnew(call, renderer)),
  }));
  return { ...group, members };
}

/**
 * The call with the ids that this renderer gives its text. What is known of the ids that it had goes with them: what they were
 * chosen among, and what a teacher would have written in their places.
 */
export function encodedAnew(call: Call, renderer: Renderer): Call {
  const ids = Int32Array.from(renderer.completionIds(call.text));
  const written = { ...call, ids, logprobs: new Float32Array(ids.length) };
  // Mostly nothing is, and leaving fields out is slow.
  if (call.choices === undefined && call.top === undefined && call.entropy === undefined) return written;
  const { choices: _, top: __, entropy: ___, ...rest } = written;
  return rest;
}

/**
 * The calls with prompts of this renderer.
 *
 * @param written the call with the tokens of its completion. Default: those that it has
 * @param read the messages that are read, of those that the record says. Default: all of them
 */
export function renderCalls(
  { calls, tools: declared }: Pick<Episode, 'calls' | 'tools'>,
  renderer: Renderer,
  written: (call: Call) => Call = (call) => call,
  read: (messages: readonly Message[]) => readonly Message[] = (messages) => messages,
): Call[] {
  const known = new Map<number, { readonly call: Call; readonly path: TokenPath }>();
  const ofConversation = new Map<string, readonly TokenPath[]>();
  return calls.map((call): Call => {
    if (call.purpose === 'consult') return call;
    const { id, conversation, parent, newPath } = call;
    const before = parent === undefined ? undefined : known.get(parent);
    const own = ofConversation.get(conversation) ?? [];
    const paths = before && !own.includes(before.path) ? [before.path, ...own] : own;
    const tools = call.tools === undefined ? undefined : declared[call.tools];
    const said = saidBefore(call, before?.path, known, read);
    const prompt = promptAfter(paths, said, renderer, tools && { tools });
    const link = linkOf(prompt, newPath ?? 'window');
    const made: Call = { ...linked(written(call), link), context: prompt.context };
    const path = pathAfter(prompt, made);
    known.set(id, { call: made, path });
    ofConversation.set(conversation, withPath(own, path));
    return made;
  });
}

/** What a call read, by its record. */
function saidBefore(
  { parts, messages }: Call,
  before: TokenPath | undefined,
  known: ReadonlyMap<number, { readonly call: Call }>,
  read: (messages: readonly Message[]) => readonly Message[],
): Sequence<Said> {
  if (parts === undefined) return before ? before.said.with(...read(messages)) : read(messages);
  return parts.flatMap((part): readonly Said[] => {
    if ('content' in part) return read([part]);
    if ('call' in part) return [known.get(part.call)!.call];
    return read(known.get(part.shown)?.call.messages ?? messages);
  });
}

type Link = Pick<Call, 'parent' | 'kept' | 'newPath'>;

/** The call with this link to an earlier one, and no other. Mostly it has it already, and leaving fields out is slow. */
function linked(call: Call, link: Link): Call {
  const { parent, kept, newPath } = call;
  if (parent === link.parent && kept === link.kept && newPath === link.newPath) return call;
  const { parent: _, kept: __, newPath: ___, ...rest } = call;
  return { ...rest, ...link };
}
