/** A scripted teacher in the policy's place: the agent's own code runs, and its prompts are those of training. */

import type { Role } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { parseReply, writeReply } from '../../core/word-reply.ts';
import type { Agent } from '../../env/agent.ts';
import { AGENT } from '../../env/session.ts';
import type { PlayerKind } from '../../env/world.ts';
import { askedText } from '../../policy/scripted.ts';
import { badRequest } from './api-error.ts';
import { type ChatCall, requestedSampling } from './call-request.ts';
import type { ChatModel, ModelAnswer } from './chat-model.ts';
import { POLICY_NAME } from './policy-model.ts';

/**
 * @param seedKey names the chance of the whole episode
 * @param seat the role that it plays, of an agent with several
 */
export function teacherModel(
  teach: NonNullable<Agent['demonstrate']>,
  task: Json,
  player: Exclude<PlayerKind, 'random'>,
  seedKey: string,
  seat?: Role,
): ChatModel {
  return {
    name: seat ?? POLICY_NAME,
    ...(seat !== undefined && { role: seat }),
    version: 0,
    author: { kind: 'script', name: player },
    samplesAsConfigured: true,
    answer: async ({ call, seedKey: callKey, script, plans = false }) => {
      if (call.kind === 'text') {
        throw badRequest('unsupported_parameter', 'A teacher answers /chat/completions only.');
      }
      if (script && !plans) return written(call, askedText(script()));
      const { content = '', toolCalls = [] } = await teach({
        task,
        role: seat ?? AGENT,
        messages: call.messages,
        tools: call.tools.map(({ name }) => name),
        player,
        rng: Rng.of('teacher', seedKey, callKey),
      });
      // What the agent gets is what the policy could have said: the words, without their layout.
      const planned = writeReply({ content, toolCalls });
      return written(call, script ? askedText(script(planned)) : planned);
    },
  };
}

function written(call: ChatCall, text: string): ModelAnswer {
  return {
    reply: parseReply(text, call.tools),
    text,
    finish: 'stop',
    promptIds: new Int32Array(),
    ids: new Int32Array(),
    logprobs: new Float32Array(),
    tokens: { prompt: 0, completion: 0 },
    sampling: requestedSampling(call),
    untrainable: 'scripted',
  };
}
