/** An episode shown while it is played: each state, what the agent reads, and what it does. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Message } from '../../core/messages.ts';
import { visible } from '../../core/visible.ts';
import type { Completion, CompletionRequest, Policy } from '../../policy/policy.ts';
import { type Console, painter } from '../../show/console.ts';

/** `policy`, with every turn written to the console as it happens, and a pause after each so that it can be followed. */
export function narratedPolicy(policy: Policy, console: Console, pauseMs: number): Policy {
  const completions = new Map<string, number>();
  return {
    get author() {
      return policy.author;
    },
    async complete(request: CompletionRequest): Promise<Completion> {
      const { conversation, messages, session, role } = request;
      const turn = (completions.get(conversation) ?? 0) + 1;
      completions.set(conversation, turn);
      // A context may have left out what was read before.
      const fresh = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1);
      const label = session.roles.length > 1 ? `${role}, turn ${turn}` : `turn ${turn}`;
      console.write(stateText(label, session.render?.(), fresh, console));
      const completion = await policy.complete(request);
      console.write(`${actionText(completion, console)}\n`);
      if (pauseMs > 0) await delay(pauseMs, undefined, { signal: request.signal }).catch(() => undefined);
      return completion;
    },
    release(conversation) {
      completions.delete(conversation);
      policy.release?.(conversation);
    },
  };
}

/** A heading, the drawing of the state, and the messages. */
export function stateText(
  label: string,
  picture: string | undefined,
  messages: readonly Message[],
  { colour }: Pick<Console, 'colour'>,
): string {
  const paint = painter(colour);
  const lines = [
    '',
    paint('bold', label),
    ...(picture === undefined
      ? []
      : visible(picture)
          .split('\n')
          .map((line) => `  ${line}`)),
    ...messages
      .flatMap(({ content }) => visible(content.trimEnd()).split('\n'))
      .map((line) => paint('dim', `  ${line}`)),
  ];
  return `${lines.join('\n')}\n`;
}

/** What was written, with its probability where the policy knows it. */
function actionText({ text, logprobs, trainable }: Completion, { colour }: Console): string {
  const paint = painter(colour);
  const total = logprobs.reduce((sum, logprob) => sum + logprob, 0);
  const chance =
    trainable === true && logprobs.length > 0
      ? paint('dim', `   ${(100 * Math.exp(total)).toFixed(0)}% likely`)
      : '';
  return `  ${paint('cyan', '›')} ${paint('bold', visible(text.trim()) || '(nothing)')}${chance}`;
}
