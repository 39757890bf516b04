/** Models elsewhere that scores of groups and sources of prompts ask: each found once, its calls counted with all others. */

import type { AskModel } from '../../rollout/ask-judge.ts';
import { readChatCall } from '../../server/gateway/call-request.ts';
import type { ChatModel } from '../../server/gateway/chat-model.ts';
import { SpendMeter } from '../../server/gateway/spend.ts';
import { parseUpstream, upstreamModel } from '../../server/gateway/upstream/upstream-model.ts';

/**
 * The key comes from OPENAI_API_KEY. At temperature 0 answers to equal questions are asked for once.
 *
 * @param as the name under which an unnamed model is asked, and the temperature
 */
export function askElsewhere(
  meter: SpendMeter = new SpendMeter(),
  as: { readonly name: string; readonly temperature: number } = { name: 'judge', temperature: 0 },
): AskModel {
  const models = new Map<string, ChatModel>();
  return async (address, messages, signal) => {
    const model =
      models.get(address) ??
      meter.metered(upstreamModel(parseUpstream(address, as.name, process.env.OPENAI_API_KEY)));
    models.set(address, model);
    const call = readChatCall({
      model: model.name,
      messages: messages.map(({ role, content }) => ({ role, content })),
      temperature: as.temperature,
    });
    const { reply } = await model.answer({
      call,
      conversation: '',
      seedKey: '',
      contentKey: '',
      promptIds: new Int32Array(),
      signal,
    });
    return { text: reply.content, by: model.author.name };
  };
}
