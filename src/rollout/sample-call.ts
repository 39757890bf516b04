/** Completions as calls of an episode: the policy is asked for one, and what it gave is recorded token for token. */

import type { Call, EpisodeKey, NewPath, Role } from '../core/episode.ts';
import { keyParts, keyText } from '../core/episode-key.ts';
import type { Message } from '../core/messages.ts';
import { idsOfPrompt, linkOf, type Prompt } from '../model/chat/token-path.ts';
import { authorOf, type Completion } from '../policy/policy.ts';
import type { Guard } from './context/next-act.ts';
import { isPlain, partsOf, type Rendered, recordedParts } from './context/thread.ts';
import type { EpisodeOptions, EpisodeRequest } from './episode-options.ts';
import type { GuardedSession } from './guard/guarded-session.ts';
import type { Seat } from './kept-place.ts';
import { type Recorder, tenths } from './recorder.ts';
import { type Restriction, TurnRequest } from './turn-request.ts';
import type { EpisodeTurns } from './turns/episode-turns.ts';

/** A turn under way. */
export interface TurnAt {
  readonly seat: Seat;
  readonly recorder: Recorder;
  readonly session: GuardedSession;
  readonly guard: Guard;
  readonly request: EpisodeRequest;
  readonly options: EpisodeOptions;
  readonly fresh: readonly Message[];
  readonly anchor: string;
  readonly turns: EpisodeTurns;
  /** Names the random streams of the episode's completions. */
  readonly draws: string;
}

/** Have the policy complete a prompt that shows `messages` for the first time. The call is not stored yet. */
export async function sampleCall(
  { seat, recorder, session, guard: { boundary, timeoutMs }, turns, request, options, draws }: TurnAt,
  rendered: Rendered,
  purpose: string,
  why: NewPath,
  messages: readonly Message[],
  restriction: Restriction,
): Promise<{ readonly call: Call; readonly completion: Completion }> {
  const { policy, renderer } = options;
  const { role } = seat;
  const { key } = request;
  const { prompt, said, tools } = rendered;
  const id = recorder.nextCall;
  const at = recorder.now();
  const began = performance.now();
  const room = options.contextLength - prompt.length;
  const sampling = recorder.limited(options.sampling, Math.min(renderer.maxTurnTokens, room));
  // Completions wait for others of their batch, however long. A script is the environment's code, and keeps its deadline.
  const deadline = authorOf(policy, role).kind === 'script' ? timeoutMs : undefined;
  const { keep, append } = keptAndNew(seat, prompt);
  const completion = await boundary.step('policy', `completing ${session.place}`, deadline, (signal) =>
    policy.complete(
      new TurnRequest(
        {
          key,
          conversation: conversationOf(key, role),
          seedKey: `${draws}/${id}`,
          keep,
          append,
          sampling,
          role,
          task: request.task,
          session: session.inner,
          signal,
          said,
        },
        restriction,
      ),
    ),
  );
  if (completion.trainable === true || completion.trainable === 'constrained') seat.held = id;
  const waitMs = completion.waitMs ?? 0;
  const isNamed = purpose !== 'act' || !isPlain(rendered, messages);
  // What may be absent comes last: properties after it take ten times as long.
  const call: Call = {
    id,
    conversation: role,
    role,
    by: completion.by,
    purpose,
    sampling,
    context: prompt.context,
    ids: completion.ids,
    logprobs: completion.logprobs,
    messages,
    text: completion.text,
    finish: completion.finish,
    trainable: completion.trainable,
    at,
    waitMs: tenths(waitMs),
    policyMs: tenths(performance.now() - began - waitMs),
    ...(completion.entropy !== undefined && { entropy: completion.entropy }),
    ...linkOf(prompt, why),
    ...(completion.choices && { choices: completion.choices }),
    ...(tools && { tools: recorder.declare(tools), reply: renderer.read(completion.text, tools) }),
    ...(isNamed && { parts: recordedParts(partsOf(rendered), messages, id) }),
  };
  turns.requireSamePrompt(call, options.context.subject);
  return { call, completion };
}

/** The prompt by what the sampler holds of it: a number of tokens of the conversation, and those after them. */
function keptAndNew({ held, thread }: Seat, prompt: Prompt): Pick<TurnRequest, 'keep' | 'append'> {
  if (held === undefined) return { keep: 0, append: idsOfPrompt(prompt) };
  if (prompt.path?.call === held) return { keep: prompt.kept, append: prompt.context };
  const ids = idsOfPrompt(prompt);
  const path = thread.paths.find(({ call }) => call === held);
  const keep = path?.tokens.agrees(0, ids) ?? 0;
  return { keep, append: ids.slice(keep) };
}

/** The name of the random streams of an episode's completions. */
export function drawsOf(
  { key, drawsAs = key }: EpisodeRequest,
  { seed, policyKey = '' }: Pick<EpisodeOptions, 'seed' | 'policyKey'>,
): string {
  return [seed, ...(policyKey === '' ? [] : [policyKey]), ...keyParts(drawsAs)].join('/');
}

/** Names one role's side of an episode in the sampler's cache. */
export function conversationOf(key: EpisodeKey, role: Role): string {
  return `${keyText(key)}/${role}`;
}
