/** Prompts of calls: what a model reads of a request, and how that hangs together with what it read before. */

import type { NewPath, Part } from '../../../core/episode.ts';
import type { Message } from '../../../core/messages.ts';
import type { ConversationRenderer } from '../../../model/chat/conversation.ts';
import { isCompletion, type Offered } from '../../../model/chat/renderer.ts';
import { linkOf, promptAfter } from '../../../model/chat/token-path.ts';
import { isPlain, partsOf, type Rendered, turnsOf } from '../../../rollout/context/thread.ts';
import type { Origin, Placement } from '../call-recorder.ts';
import type { CallRequest, ChatCall, TextCall } from '../call-request.ts';
import type { ModelAnswer } from '../chat-model.ts';

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
  request: ChatCall,
  renderer: ConversationRenderer,
): number {
  const { calls = [], paths = [] } = base?.thread ?? {};
  const said = [...turnsOf(calls), ...rest];
  return promptAfter(paths, said, renderer, offeredIn(request)).length;
}

/** What a request says to the template. */
export const offeredIn = ({ tools, templateVariables }: ChatCall): Offered => ({
  ...(tools.length > 0 && { tools }),
  ...(templateVariables && { variables: templateVariables }),
});

/**
 * What a prompt goes on from. A client that edited what was said before begins another conversation, which goes on from the
 * one that it edited.
 *
 * @param tokens of the path that the prompt goes on from
 * @param placed where the client's request stands; absent where a context asks, or goes on by itself
 * @param told messages that are new, as the record has them
 * @param shownAnew what calls showed that begin an edited conversation
 */
export function originOf(
  rendered: Rendered,
  tokens: Int32Array | undefined,
  placed: Placement | undefined,
  told: readonly Message[],
  request: ChatCall,
  why: NewPath,
  shownAnew: ReadonlyMap<number, readonly Message[]>,
): Origin {
  const { prompt, tools = request.tools } = rendered;
  const edited = placed && placed.parent !== placed.base ? placed.parent : undefined;
  const change = placed?.change ?? linkOf(prompt, why).newPath;
  const fresh = placed?.rest ?? told;
  const isPlainAct = why !== 'asked' && change === undefined && isPlain(rendered, fresh);
  const from = edited
    ? { parent: edited.call.id, path: edited.path }
    : prompt.path && { parent: prompt.path.call, ...(tokens && { path: tokens }) };
  return {
    ...from,
    change,
    messages: told,
    ...(!isPlainAct && { parts: partsOf(rendered).flatMap((part) => expanded(part, shownAnew)) }),
    tools,
  };
}

/** The opening of an edited conversation shows more than its record names as new. */
function expanded(part: Part, shownAnew: ReadonlyMap<number, readonly Message[]>): readonly Part[] {
  return 'shown' in part ? (shownAnew.get(part.shown) ?? [part]) : [part];
}

/** A conversation as messages, for models that read these. */
export function messagesRead(
  { said }: Rendered,
  asRequested: readonly Message[] | undefined,
  messages: ReadonlyMap<number, Message>,
): readonly Message[] {
  return (
    asRequested ??
    Array.from(said, (one) =>
      isCompletion(one) ? (messages.get(one.id) ?? { role: 'assistant', content: one.text }) : one,
    )
  );
}

const CHARACTERS_PER_TOKEN = 4;

/** The length of a prompt whose model does not tell, by the characters of its text. */
export function estimatedTokens(call: CallRequest): number {
  const text = call.kind === 'chat' ? JSON.stringify([call.messages, call.tools]) : String(call.prompt);
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
