/**
 * The tool protocol in words, for models made from scratch: `<call> relative person: ada relation: mother`. Calls in the form of
 * the tool protocol are read too, so that models that can read may use their own.
 */

import type { JsonObject } from '../../core/json/json.ts';
import type { ToolDeclaration } from '../../core/messages.ts';
import { CALL_WORD, parseReply, writeReply } from '../../core/word-reply.ts';
import type { ActionProtocol, ParsedAction } from '../protocol.ts';
import {
  answerAction,
  answerIn,
  type DescribedTool,
  hasToolCall,
  readCall,
  type ToolProtocolOptions,
  toolAction,
  toolProtocol,
} from '../tool-protocol.ts';

/** Actions are those of the tool protocol. */
export function wordCallProtocol(
  tools: readonly DescribedTool[],
  options: ToolProtocolOptions = {},
): ActionProtocol {
  const spelled = toolProtocol(tools, options);
  const declared = (spelled.tools ?? []).map((tool) => tool.function as unknown as ToolDeclaration);
  const problem = (what: string): ParsedAction => ({ ok: false, problem: what });
  return {
    ...spelled,
    name: 'calls',
    format: (action) => answerIn(action) ?? written(action),
    parse(text) {
      if (hasToolCall(text)) return spelled.parse(text);
      const { toolCalls, problem: wrong } = parseReply(text, declared);
      if (wrong !== undefined) return problem(`The call cannot be read: ${wrong}.`);
      const [call, ...others] = toolCalls;
      if (others.length > 0) return problem('Seen more than one call. Write one at a time.');
      if (call === undefined && text.includes(CALL_WORD)) return problem('The call cannot be read.');
      if (call === undefined) {
        const answer = text.trim();
        return options.answers && answer !== ''
          ? { ok: true, action: answerAction(answer) }
          : spelled.parse('');
      }
      const action = toolAction(call.name, call.arguments);
      const checked = readCall(tools, action);
      return typeof checked === 'string' ? problem(checked) : { ok: true, action };
    },
  };
}

function written(action: string): string {
  const { name, arguments: input } = JSON.parse(action) as { name: string; arguments: JsonObject };
  return writeReply({ content: '', toolCalls: [{ name, arguments: input }] });
}
