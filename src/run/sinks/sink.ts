/** A place outside the run's folder that gets its events: a file, a dashboard, a function. */

import type { Group } from '../../core/episode.ts';
import type { TimedEvent } from '../../store/log-lines.ts';
import type { TrainConfig } from '../../train/config/config.ts';

/** The run that a sink is opened for. */
export interface SinkRun {
  readonly run: string;
  readonly folder: string;
  readonly environment: string;
  readonly recipe: string;
  readonly config: TrainConfig;
  /** 1, and one more after every resume. */
  readonly generation: number;
  /** The step from which the run goes on, 0 for a new one: what a sink has of later steps no longer counts. */
  readonly kept: number;
  /** The events that still count, oldest first; none of a new run. */
  past(): readonly TimedEvent[];
}

/** Episodes that the run has stored. */
export interface StoredEpisodes {
  readonly step: number;
  /** What they were played for; evaluations at temperature 1 and greedily. */
  readonly label: 'training' | 'sampled' | 'greedy';
  readonly groups: readonly Group[];
}

/** How the process left the run: at its end, asked to stop, or with an error. */
export type RunEnd = 'finished' | 'stopped' | 'failed';

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
  /** After the event of their step or evaluation; those that `rolloutLog` leaves out do not come. */
  episodes?(stored: StoredEpisodes): void | Promise<void>;
  /** When the run has ended, however that went. */
  close?(end: RunEnd): void | Promise<void>;
}
