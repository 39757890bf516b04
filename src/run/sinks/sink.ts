/** A place outside the run's folder that gets its events: a file, a dashboard, a function. */

import type { TimedEvent } from '../../store/log-lines.ts';
import type { TrainConfig } from '../../train/config/config.ts';

/** The run that a sink is opened for. */
export interface SinkRun {
  readonly run: string;
  readonly folder: string;
  readonly config: TrainConfig;
  /** 1, and one more after every resume. */
  readonly generation: number;
  /** The step from which the run goes on, 0 for a new one: what a sink has of later steps no longer counts. */
  readonly kept: number;
}

/**
 * Gets every stored event of a run. A sink that throws is dropped with one warning; the run goes on.
 *
 * @example
 * const sink: Sink = { event: (event) => console.log(event.type) };
 * await train({ world: 'frozen-lake', sinks: [sink] });
 */
export interface Sink {
  /** Before the first event. */
  open?(run: SinkRun): void | Promise<void>;
  /** In order. A promise is not waited for until the end of the run. */
  event(event: TimedEvent): void | Promise<void>;
  /** When the run has ended, however that went. */
  close?(): void | Promise<void>;
}
