/** What a text says whatever comes after it: what may be told of an answer while it is still being written. */

import type { ToolCallForm } from './tool-call-text.ts';
import { END_OF_THOUGHT, OPEN_CALL, PYTHON_TAG, THOUGHT } from './tool-call-text.ts';

/** The beginnings of the two parts of an answer. */
export interface Settled {
  readonly reasoning: string;
  readonly content: string;
}

/**
 * The part of an unfinished text that `readReply` will read so. A call is left out from its first character, since one that is
 * cut never leaves as a call, and one that is whole is told as such.
 *
 * @param form of the calls that may come; undefined where none is read
 */
export function settledText(text: string, form: ToolCallForm | undefined): Settled {
  const begun = text.trimStart();
  if (THOUGHT.startsWith(begun.slice(0, THOUGHT.length)) && begun.length < THOUGHT.length)
    return { reasoning: '', content: '' };
  if (!begun.startsWith(THOUGHT)) return { reasoning: '', content: settledContent(text, form) };
  const thought = begun.slice(THOUGHT.length);
  const end = thought.indexOf(END_OF_THOUGHT);
  if (end < 0)
    return { reasoning: withoutPart(thought.trimStart(), [END_OF_THOUGHT]).trimEnd(), content: '' };
  const rest = thought.slice(end + END_OF_THOUGHT.length).trimStart();
  return { reasoning: thought.slice(0, end).trim(), content: settledContent(rest, form) };
}

function settledContent(text: string, form: ToolCallForm | undefined): string {
  const begun = text.trimStart();
  if (form === 'bare') {
    const isCall = begun.startsWith('{') || begun.startsWith(PYTHON_TAG) || PYTHON_TAG.startsWith(begun);
    return isCall ? '' : text.trimEnd();
  }
  if (form === undefined) return text.trimEnd();
  // White space before words is dropped where calls follow them.
  if (begun.length < text.length) return '';
  const call = text.indexOf(OPEN_CALL);
  return (call < 0 ? withoutPart(text, [OPEN_CALL]) : text.slice(0, call)).trimEnd();
}

/** The text without an end with which one of these may begin. */
export function withoutPart(text: string, marks: readonly string[]): string {
  const longest = Math.max(0, ...marks.map((mark) => mark.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(text.length - length);
    if (marks.some((mark) => mark.length > length && mark.startsWith(end))) return text.slice(0, -length);
  }
  return text;
}
