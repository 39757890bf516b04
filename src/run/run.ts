/** A run in the hands of a program: watched, stopped, and its latest checkpoint measured, played and exported. */

import type { Episode, Split } from '../core/episode.ts';
import { taskOf } from '../env/tasks/split.ts';
import { evaluate } from '../eval/evaluate.ts';
import { collectGroups } from '../rollout/collect.ts';
import { evaluationOptions } from '../train/kit/learner.ts';
import type { Evaluations, RunEvent, RunSummary } from '../train/loop/events.ts';
import { type ExportKind, exportModel } from './export-model.ts';
import type { WorldRequest } from './load/run-world.ts';
import { type OpenedCheckpoint, openCheckpoint } from './open-checkpoint.ts';

export interface CheckpointChoice {
  /** Which checkpoint. Default: the latest. */
  readonly step?: number;
  /** Which tasks. Default: `test`. */
  readonly split?: Split;
}

export interface EvaluateOptions extends CheckpointChoice {
  /** Number of tasks; fewer if the split has fewer. Default: 500. */
  readonly tasks?: number;
}

export interface PlayOptions extends CheckpointChoice {
  /** The likeliest actions in place of sampled ones. */
  readonly greedy?: boolean;
}

/**
 * A run that is open. What it does with its model is done with a checkpoint, and does not touch the training under way.
 *
 * @example
 * const run = await start({ world: 'frozen-lake', recipe: 'grpo' });
 * for await (const event of run.events) if (event.type === 'step') console.log(event.step);
 * const { sampled } = await run.evaluate({ tasks: 500 });
 */
export interface Run {
  readonly name: string;
  /** The folder of this run. */
  readonly folder: string;
  /**
   * What happens, from the event that opened the run: stored events and, while they are watched, progress. The iteration
   * ends with the run, and throws what ended it unless that was `stop`.
   */
  readonly events: AsyncIterable<RunEvent>;
  /** The summary; rejects with what ended the run otherwise, `cancelled` after `stop`. */
  readonly finished: Promise<RunSummary>;
  /** Stop after the step under way, with a checkpoint. `resume` goes on. */
  stop(): void;
  /** Play test tasks, sampled and greedy. */
  evaluate(options?: EvaluateOptions): Promise<Required<Evaluations>>;
  /** Play the task of this number, counted from 0. */
  play(task: number, options?: PlayOptions): Promise<Episode>;
  /** Write the model to a folder that does not exist yet, for peft (`adapter`) or transformers (`merged`). */
  export(kind: ExportKind, folder: string): Promise<void>;
}

interface OpenRunParts extends Pick<Run, 'folder' | 'events' | 'finished' | 'stop'> {
  readonly place: WorldRequest;
  /** Do work that calls user code. */
  guarded<T>(job: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export class OpenRun implements Run {
  readonly name: string;
  readonly folder: string;
  readonly events: AsyncIterable<RunEvent>;
  readonly finished: Promise<RunSummary>;
  readonly #parts: OpenRunParts;

  constructor(parts: OpenRunParts) {
    this.#parts = parts;
    this.name = parts.place.name;
    this.folder = parts.folder;
    this.finished = parts.finished;
    this.events = parts.events;
  }

  stop(): void {
    this.#parts.stop();
  }

  evaluate({ tasks = 500, split = 'test', step }: EvaluateOptions = {}): Promise<Required<Evaluations>> {
    return this.#withCheckpoint(step, async (learner, signal) => {
      const played = async (temperature: number) => {
        const sampling = { temperature, topP: 1, topK: 0 };
        const options = { ...evaluationOptions(learner, signal), split, tasks, step: step ?? 0, sampling };
        return (await evaluate(options)).result;
      };
      return { sampled: await played(1), greedy: await played(0) };
    });
  }

  play(task: number, { step, split = 'test', greedy = false }: PlayOptions = {}): Promise<Episode> {
    return this.#withCheckpoint(step, async (learner, signal) => {
      const usual = evaluationOptions(learner, signal);
      const temperature = greedy ? 0 : usual.sampling.temperature;
      const request = { step: 0, group: task, split, index: task, ...taskOf(learner.world, split, task) };
      const [group] = await collectGroups([{ ...request, members: 1 }], {
        ...usual,
        sampling: { ...usual.sampling, temperature },
      });
      return group!.members[0]!;
    });
  }

  export(kind: ExportKind, folder: string): Promise<void> {
    const { place, guarded } = this.#parts;
    return guarded(async (signal) => {
      await exportModel({ ...place, signal }, kind, folder);
    });
  }

  #withCheckpoint<T>(
    step: number | undefined,
    job: (learner: OpenedCheckpoint, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { place, guarded } = this.#parts;
    return guarded(async (signal) => {
      const learner = await openCheckpoint({ ...place, ...(step !== undefined && { step }), signal });
      try {
        return await job(learner, signal);
      } finally {
        await learner.close();
      }
    });
  }
}
