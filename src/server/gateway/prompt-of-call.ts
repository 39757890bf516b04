/** Prompts of calls: what a model reads of a request, and how that hangs together with what it read before. */

import type { NewPath, Part } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import type { ConversationRenderer } from '../../model/chat/conversation.ts';
import { isCompletion, type Said } from '../../model/chat/renderer.ts';
import { linkOf, promptAfter } from '../../model/chat/token-path.ts';
import { isPlain, type Rendered, recordedParts } from '../../rollout/context/thread.ts';
import type { Origin, Placement } from './call-recorder.ts';
import type { ChatCall, TextCall } from './call-request.ts';
import type { ModelAnswer } from './chat-model.ts';

/** Prompt and completion in one. */
export function joined({ promptIds, ids }: Pick<ModelAnswer, 'promptIds' | 'ids'>): Int32Array {
  const path = new Int32Array(promptIds.length + ids.length);
  path.set(promptIds);
  path.set(ids, promptIds.length);
  return path;
}

/** The prompt of a text call: the tokens of the call that it begins with, then its own. */
export function textPrompt(
  { prompt }: TextCall,
  { base, restText }: Placement,
  renderer: ConversationRenderer,
): Int32Array {
  const before = base?.path ?? new Int32Array();
  const rest = typeof prompt === 'string' ? renderer.textIds(restText) : prompt.slice(before.length);
  return joined({ promptIds: before, ids: Int32Array.from(rest) });
}

/** The length of a chat's prompt where all of it is read. */
export function promptOfAll(
  { base, rest }: Placement,
  { tools, templateVariables }: ChatCall,
  renderer: ConversationRenderer,
): number {
  const { calls = [], paths = [] } = base?.thread ?? {};
  const said = [...calls.flatMap((call): Said[] => [...call.messages, call]), ...rest];
  const variables = templateVariables && { variables: templateVariables };
  return promptAfter(paths, said, renderer, { tools, ...variables }).length;
}

/**
 * What a prompt goes on from. A client that edited what was said before begins another conversation, which goes on from the
 * one that it edited.
 *
 * @param placed where the client's request stands; absent where a context asks, or goes on by itself
 * @param told messages that are new, as the record has them
 */
export function originOf(
  rendered: Rendered,
  placed: Placement | undefined,
  told: readonly Message[],
  request: ChatCall,
  why: NewPath,
): Origin {
  const { prompt, parts, tools = request.tools } = rendered;
  const edited = placed?.parent;
  const { path } = prompt;
  const change = placed?.change ?? linkOf(prompt, why).newPath;
  const fresh = placed?.rest ?? told;
  const asRequested = isPlain(rendered, fresh) && placed?.parent === placed?.base && change === undefined;
  const plain = placed === undefined ? isPlain(rendered, fresh) && why !== 'asked' : asRequested;
  const from = path
    ? { parent: path.call, path: path.ids }
    : edited && { parent: edited.call.id, path: edited.path };
  return {
    ...from,
    change,
    messages: told,
    ...(!plain && { parts: partsOf(parts, placed, request) }),
    tools,
  };
}

/** Messages of a request are kept as they are: calls of an edited conversation show more than their records name. */
function partsOf(parts: readonly Part[], placed: Placement | undefined, request: ChatCall): readonly Part[] {
  const isAll = placed?.rest.length === parts.length && placed.rest.every((one, at) => one === parts[at]);
  return isAll && placed.base === undefined ? request.messages : recordedParts(parts, [], 0);
}

/** A conversation as messages, for models that read these. */
export function messagesRead(
  { said }: Rendered,
  asRequested: readonly Message[] | undefined,
  messages: ReadonlyMap<number, Message>,
): readonly Message[] {
  return (
    asRequested ??
    said.map((one) =>
      isCompletion(one) ? (messages.get(one.id) ?? { role: 'assistant', content: one.text }) : one,
    )
  );
}
