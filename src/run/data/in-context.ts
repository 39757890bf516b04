/** Recorded conversations as the context of a run shows them: each answer behind the prompt that the policy would have read. */

import type { Call, Episode } from '../../core/episode.ts';
import { keyParts } from '../../core/episode-key.ts';
import { Rng } from '../../core/rng.ts';
import { linkOf } from '../../model/chat/token-path.ts';
import { Boundary, EpisodeEnd } from '../../rollout/boundary.ts';
import { full } from '../../rollout/context/contexts.ts';
import { type Guard, nextActUnasked } from '../../rollout/context/next-act.ts';
import {
  isPlain,
  newThread,
  partsOf,
  recordedParts,
  type Setting,
  type Thread,
  withCall,
} from '../../rollout/context/thread.ts';
import { encodedAnew, renderDemonstrations } from '../../synth/render-calls.ts';
import type { Learner } from '../../train/kit/learner.ts';
import { cutTo, cutToContext } from './cut-to-context.ts';

/** Whose words, context and limits are those of the reading. */
export type Reader = Pick<Learner, 'renderer' | 'engine' | 'context' | 'world' | 'config' | 'watch'>;

export interface Read {
  /** Up to the last turn that fits; undefined where not even the first learned answer does. */
  readonly read: Episode | undefined;
  /** Whether the context asks the policy for what the record does not have: then everything that was said is read. */
  readonly asked: boolean;
  /** What went wrong in the context, where a user wrote it: nothing is read then. */
  readonly failed?: unknown;
}

/**
 * The episode as the policy would have read and written it. What was played in a context that leaves something out, and says what,
 * is read as it was.
 *
 * @param isExact its ids are of the policy's tokenizer: answers are never encoded anew, and prompts only for another context
 */
export async function asRead(episode: Episode, reader: Reader, isExact = false): Promise<Read> {
  const { renderer } = reader;
  const written = (call: Call): Call => (isExact ? unread(call) : encodedAnew(call, renderer));
  const found = isReadWhole(episode, reader) ? undefined : await inContext(episode, reader, written);
  if (found !== undefined && found !== ASKED) return { ...found, asked: false };
  const group = { step: 0, group: 0, members: [episode] };
  const [whole] = isExact ? [episode] : renderDemonstrations(group, renderer).members;
  const read = cutToContext(whole!, reader.engine.capabilities.contextLength);
  return { read, asked: found === ASKED };
}

/** The call behind another prompt than the one that its log-probabilities are of. */
function unread(call: Call): Call {
  const { entropy: _, ...rest } = call;
  return { ...rest, logprobs: new Float32Array(call.ids.length) };
}

const ASKED = 'asked';

/** Whether the context leaves nothing out, or the record says what its own left out. */
function isReadWhole({ calls }: Episode, { context }: Reader): boolean {
  return (
    context.strategy === full ||
    calls.some(
      ({ purpose, parts, newPath }) => purpose !== 'act' || parts !== undefined || newPath !== undefined,
    )
  );
}

/** Each answer behind the prompt that the context gives. */
async function inContext(
  episode: Episode,
  { renderer, engine, context, world, config, watch }: Reader,
  written: (call: Call) => Call,
): Promise<Omit<Read, 'asked'> | typeof ASKED> {
  const { contextLength } = engine.capabilities;
  const boundary = new Boundary(new AbortController().signal, watch);
  const guard: Guard = { boundary, timeoutMs: config.rollout.turnTimeoutMs, place: 'a recorded episode' };
  const settingOf = ({ role, tools: key }: Call): Setting => {
    const tools = key === undefined ? undefined : episode.tools[key];
    return {
      ...{ context, renderer, role, task: episode.task, contextLength },
      ...(tools && { tools, offered: { tools } }),
      limit: config.rollout.maxTurns || world.maxTurns,
      rng: (calls) => Rng.of('context', config.seed, 'recorded', ...keyParts(episode.key), role, calls),
    };
  };
  const threads = new Map<string, Thread>();
  const calls: Call[] = [];
  try {
    for (const { parent: _, ...recorded } of episode.calls) {
      const call = written(recorded);
      const thread = threads.get(call.conversation) ?? newThread(context);
      const next = await nextActUnasked(thread, call.messages, settingOf(call), guard);
      const { prompt } = next.rendered;
      if (prompt.length + call.ids.length > contextLength) return { read: cutTo(episode, calls) };
      const parts = recordedParts(partsOf(next.rendered), call.messages, call.id);
      const read: Call = {
        ...call,
        ...linkOf(prompt, 'window'),
        context: prompt.context,
        ...(!isPlain(next.rendered, call.messages) && { parts }),
      };
      calls.push(read);
      const after = withCall({ ...next.thread, turns: next.thread.turns + 1 }, prompt, read);
      const done = episode.transitions.filter((transition) => transition.call === call.id);
      threads.set(call.conversation, { ...after, transitions: after.transitions.with(...done) });
    }
    return { read: { ...episode, calls } };
  } catch (error) {
    if (!(error instanceof EpisodeEnd)) return { read: undefined, failed: error };
    if (error.stop === 'early-stop') return ASKED;
    if (error.stop === 'context-overflow') return { read: cutTo(episode, calls) };
    return { read: undefined, failed: error.cause ?? error };
  } finally {
    boundary.close();
  }
}
