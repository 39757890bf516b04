/** An agent's episode shown while it is played: every call of every conversation, when it is answered. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Call, EpisodeKey } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { visible } from '../../core/visible.ts';
import { AGENT } from '../../env/session.ts';
import { type Console, painter, wrap } from '../../show/console.ts';
import { messageLines } from '../../show/episode-text.ts';

const LINES_PER_MESSAGE = 12;

export interface NarrationOptions {
  /** Milliseconds after each call, so that it can be followed. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

/**
 * Writes each call to the console: its number and conversation, what was new to the model, and what it answered. Calls at the
 * same time are written one after the other, as they are answered.
 */
export function narratedCalls(
  console: Console,
  { pauseMs, signal }: NarrationOptions,
): (call: Call, episode: EpisodeKey) => Promise<void> {
  const counts = new Map<string, { calls: number; readonly conversations: string[] }>();
  let before: Promise<unknown> = Promise.resolve();
  return (call, episode) => {
    const name = keyText(episode);
    const seen = counts.get(name) ?? { calls: 0, conversations: [] };
    counts.set(name, seen);
    seen.calls++;
    if (!seen.conversations.includes(call.conversation)) seen.conversations.push(call.conversation);
    const conversation = seen.conversations.indexOf(call.conversation) + 1;
    const text = callText(call, seen.calls, conversation, console);
    const shown = before.then(async () => {
      console.write(text);
      if (pauseMs > 0) await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    });
    before = shown;
    return shown;
  };
}

/** A heading, what was new to the model, and its answer, with its probability where the policy knows it. */
function callText(call: Call, number: number, conversation: number, console: Console): string {
  const paint = painter(console.colour);
  const width = console.columns - 4;
  const heading = [
    `call ${number}`,
    ...(conversation > 1 ? [`conversation ${conversation}`] : []),
    ...(call.role === AGENT ? [] : [call.role]),
    ...(call.purpose === 'act' ? [] : [visible(call.purpose)]),
    ...(call.trainable === 'other-model' ? [visible(call.by.name)] : []),
    ...(call.newPath === undefined ? [] : [call.newPath]),
  ].join(', ');
  const read = call.messages.flatMap((message) => messageLines(message, width, LINES_PER_MESSAGE));
  const [first = '', ...rest] = wrap(visible(call.text.trim()) || '(nothing)', width);
  const problem = call.problem === undefined ? [] : [paint('red', `    ${visible(call.problem)}`)];
  return `${[
    '',
    paint('bold', heading),
    ...read.map((line) => paint('dim', `  ${line}`)),
    `  ${paint('cyan', '›')} ${paint('bold', first)}${chanceText(call, paint)}`,
    ...rest.map((line) => `    ${paint('bold', line)}`),
    ...problem,
  ].join('\n')}\n`;
}

function chanceText({ logprobs, trainable }: Call, paint: ReturnType<typeof painter>): string {
  if (trainable !== true || logprobs.length === 0) return '';
  const total = logprobs.reduce((sum, logprob) => sum + logprob, 0);
  return paint('dim', `   ${(100 * Math.exp(total)).toFixed(0)}% likely`);
}
