/** The metrics of runs as files that TensorBoard reads: one folder a run. */

import { join } from 'node:path';
import type { JsonObject } from '../../../core/json/json.ts';
import { leaves } from '../../../core/json/leaves.ts';
import { measuredIn } from '../measured.ts';
import type { Sink } from '../sink.ts';
import { EventFile } from './event-file.ts';
import { histogram, markdown, scalar, sessionEnd, sessionStart } from './summaries.ts';

const mostBuckets = 30;

/**
 * Write metrics, evaluations, histograms of returns, warnings and settings to `folder/RUN`, and imitation, whose steps count
 * from 1 as those of learning do, to `folder/RUN/clone`. Look at them with `tensorboard --logdir FOLDER`. A resumed run goes
 * on in a new file, which replaces the steps that it takes again.
 *
 * @example
 * await train({ world: 'frozen-lake', sinks: [tensorboard('./tb')] });
 */
export function tensorboard(folder: string): Sink {
  let file: EventFile | undefined;
  let clones: EventFile | undefined;
  let path = '';
  let step = 0;
  return {
    open: ({ run, config, kept, past }) => {
      path = join(folder, run);
      step = kept;
      file = new EventFile(path, past().length === 0 ? 0 : kept + 1);
      const settings = leaves(config as unknown as JsonObject).flatMap(([key, value]) =>
        typeof value === 'object' ? [] : [[key, value] as const],
      );
      file.summaries(Date.now(), 0, (summary) => sessionStart(summary, settings, run, Date.now()));
    },
    event: (event) => {
      const measured = measuredIn(event);
      if (event.type === 'warning') {
        const text = `\`${event.code}\`\n\n${fenced(event.message)}`;
        file?.summaries(Date.parse(event.time), step, (summary) => markdown(summary, 'warnings', text));
      }
      if (measured === undefined) return;
      const { kind, time, metrics } = measured;
      if (kind !== 'clone') step = measured.step;
      if (kind === 'clone') clones ??= new EventFile(join(path, 'clone'), 0);
      (kind === 'clone' ? clones : file)?.summaries(time, measured.step, (summary) => {
        for (const [name, value] of Object.entries(metrics)) scalar(summary, name, value);
      });
    },
    episodes: ({ step: played, label, groups }) => {
      const returns = groups.flatMap(({ members }) =>
        members.flatMap(({ outcome }) => Object.values(outcome).filter(Number.isFinite)),
      );
      if (returns.length === 0) return;
      file?.summaries(Date.now(), played, (summary) =>
        histogram(summary, `returns/${label}`, bucketsOf(returns)),
      );
    },
    close: (end) =>
      file?.summaries(Date.now(), 0, (summary) => sessionEnd(summary, end === 'finished', Date.now())),
  };
}

/** Text of models and tools is no markup. */
function fenced(text: string): string {
  return text.replace(/^/gm, '    ');
}

/** Buckets of equal width from the smallest to the largest; one where all are equal. */
export function bucketsOf(values: readonly number[]): [number, number, number][] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const count = high > low ? mostBuckets : 1;
  const width = (high - low) / count;
  const edge = (index: number): number => (index === count ? high : low + index * width);
  const buckets = Array.from({ length: count }, (_, index): [number, number, number] => [
    edge(index),
    edge(index + 1),
    0,
  ]);
  for (const value of values) {
    buckets[Math.min(count - 1, width > 0 ? Math.floor((value - low) / width) : 0)]![2]++;
  }
  return buckets;
}
