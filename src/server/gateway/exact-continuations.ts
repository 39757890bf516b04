/** What continues a recorded call exactly: by its ids, or for text calls by its text. */

import type { Message } from '../../core/messages.ts';
import type { RecordedCall } from './recorded-call.ts';

/** Where there are no ids (a scripted teacher), the messages alone decide. */
export function extendsExactly(
  promptIds: readonly number[],
  { promptIds: before, ids }: RecordedCall,
): boolean {
  return (
    promptIds.length >= before.length + ids.length &&
    before.every((id, index) => promptIds[index] === id) &&
    ids.every((id, index) => promptIds[before.length + index] === id)
  );
}

export const textOf = ({ messages, text }: RecordedCall): string => `${messages[0]?.content ?? ''}${text}`;

export function continues(prompt: string | readonly number[], earlier: RecordedCall): boolean {
  if (earlier.kind !== 'text' || earlier.text === '') return false;
  return typeof prompt === 'string' ? prompt.startsWith(textOf(earlier)) : extendsExactly(prompt, earlier);
}

export const promptMessages = (prompt: string | readonly number[]): Message[] => [
  { role: 'user', content: typeof prompt === 'string' ? prompt : prompt.join(' ') },
];
