/** Jobs run in processes, shown while they run, and stopped by Ctrl-C after their steps. */

import type { Children } from '../../compare/child-run.ts';
import type { Job } from '../../compare/jobs.ts';
import { type JobStatus, runSweep } from '../../compare/sweep.ts';
import type { Console } from '../../show/console.ts';
import { type Interrupts, TERMINATION_GRACE_MS } from '../interrupts.ts';
import { sweepDisplay } from './sweep-display.ts';

export interface ShownSweepRequest {
  readonly store: string;
  readonly parallel: number;
  readonly children: Children;
  readonly console: Console;
  readonly interrupts: Interrupts;
  readonly json: boolean;
}

export interface ShownSweep {
  /** Run these; may be called again, once the ones before are done. */
  run(jobs: readonly Job[]): Promise<readonly JobStatus[]>;
  stopped(): boolean;
  /** End the display, and every process that is left. */
  close(): void;
}

export function shownSweep({
  store,
  parallel,
  children,
  console,
  interrupts,
  json,
}: ShownSweepRequest): ShownSweep {
  const kill = (): void => children.kill();
  interrupts.signal.addEventListener('abort', kill, { once: true });
  const display = sweepDisplay(console, { json, now: () => performance.now() });
  const asked = interrupts.soften(() => {
    display.say(
      'Stopping every run after its step. Ctrl-C again stops at once, back at the latest checkpoints.',
    );
    children.stop();
  }, TERMINATION_GRACE_MS);
  const stopped = (): boolean => asked() || interrupts.signal.aborted;
  return {
    run: async (jobs) => {
      try {
        return await runSweep({
          ...{ jobs, store, parallel, children },
          onChange: (changed, all) => display.show(changed, all),
          stopRequested: stopped,
        });
      } catch (error) {
        kill();
        throw error;
      }
    },
    stopped,
    close: () => {
      display.close();
      kill();
    },
  };
}
