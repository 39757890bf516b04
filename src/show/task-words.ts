/** How the tasks of an evaluation are spoken of: nothing that was practised is called held out. */

import type { StoredEvent } from '../train/loop/events.ts';

type Start = Pick<Extract<StoredEvent, { type: 'start' }>, 'testTasks'>;

/** A name for them: `held-out tasks`. Runs of earlier versions did not record what they were. */
export function taskNoun(start: Start | undefined): string {
  switch (start?.testTasks) {
    case 'held-out':
      return 'held-out tasks';
    case 'practised':
      return 'all tasks (also practised)';
    case 'partly':
      return 'test tasks (some also practised)';
    default:
      return 'test tasks';
  }
}

/** Names a figure or a curve of them where one word must do: `Held-out success`, `Test success`. */
export function taskWord(start: Start | undefined): 'held-out' | 'test' {
  return start?.testTasks === 'held-out' ? 'held-out' : 'test';
}

/** As a heading begins. */
export const capitalized = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;

/** Ends the sentence "success 0.42 → 0.94". */
export function onWhichTasks(start: Start | undefined): string {
  switch (start?.testTasks) {
    case 'held-out':
      return 'on tasks it never trained on';
    case 'practised':
      return 'on all tasks, which it also practised';
    case 'partly':
      return 'on test tasks, some of which it also practised';
    default:
      return 'on its test tasks';
  }
}
