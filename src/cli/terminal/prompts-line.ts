/** What is told of the prompts of a step. */

import { visible } from '../../core/visible.ts';
import { formatScore } from '../../show/format.ts';
import type { PromptsEvent } from '../../train/loop/events.ts';

/** Characters of a prompt. */
const SHOWN = 80;

/** Prompts of a step, and the best one; its text where the log has it in this event. */
export function promptsLine({ step, used, best, texts, changed }: PromptsEvent): string {
  const own = used.find(({ prompt }) => prompt === best);
  const text = texts[best];
  const cut =
    text === undefined ? undefined : visible(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
  const named = cut === undefined ? `prompt ${best.slice(0, 8)}` : cut === '' ? 'no prompt' : `"${cut}"`;
  const earned = own
    ? `, return ${formatScore(own.return, 3).trim()} in ${own.groups} groups of the step`
    : '';
  return `step ${step}: ${used.length} prompts tried, ${changed ? 'another is the best' : 'the best'}: ${named}${earned}`;
}
