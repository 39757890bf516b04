/** Keys of the page that is shown. They can be turned off, are ignored where somebody writes, and need no modifier. */

import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

export interface KeyAction {
  readonly key: string;
  /** What it does, for the list. */
  readonly does: string;
  act(): void;
}

const stored = 'turnwise-view-keys';

export const keysOn = signal(localStorage.getItem(stored) !== 'off');
export const helpShown = signal(false);
/** The keys that work now, the newest last. */
export const bound = signal<readonly (readonly KeyAction[])[]>([]);

export function switchKeys(on: boolean): void {
  keysOn.value = on;
  localStorage.setItem(stored, on ? 'on' : 'off');
}

/**
 * Keys that work while a part of the page is shown. They are bound as it is drawn, not a frame later: of two keys in quick
 * succession, the second one is for the page that the first one opened.
 */
export function useKeys(actions: readonly KeyAction[]): void {
  useLayoutEffect(() => {
    bound.value = [...bound.value, actions];
    return () => {
      bound.value = bound.value.filter((one) => one !== actions);
    };
  });
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    helpShown.value = false;
    if (isWriting(event.target)) (event.target as HTMLElement).blur();
    return;
  }
  if (!keysOn.value || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
  const presses = event.key === 'Enter' || event.key === ' ';
  if (presses && event.target instanceof HTMLElement && event.target.matches('a, button, summary')) return;
  const action = bound.value.flat().findLast(({ key }) => key === event.key);
  if (!action) return;
  event.preventDefault();
  action.act();
});
