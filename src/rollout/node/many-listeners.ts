import { setMaxListeners } from 'node:events';

/** Lets any number of episodes listen to one signal without a warning. */
export function allowManyListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}
