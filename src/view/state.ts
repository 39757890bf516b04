/** In which state a run is, and the words for it. */

export type RunState = 'running' | 'finished' | 'stopped' | 'unreadable';

/** Told apart by shape too, not by colour alone. */
export const stateMarks: Readonly<Record<RunState, string>> = {
  running: '●',
  finished: '✓',
  stopped: '○',
  unreadable: '×',
};
