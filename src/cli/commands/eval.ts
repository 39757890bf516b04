/** `turnwise eval`: measure a checkpoint on held-out tasks. */

import { z } from 'zod';
import { type EvaluationResult, evaluate } from '../../eval/evaluate.ts';
import type { ProgressEvent } from '../../train/events.ts';
import { playOptions } from '../../train/learner.ts';
import { type Command, defineCommand } from '../command.ts';
import { painter } from '../console.ts';
import { findEnvironment } from '../environments.ts';
import { formatInterval } from '../format.ts';
import { table } from '../table.ts';
import { runDisplay } from '../terminal.ts';
import { openCheckpoint } from '../training-run.ts';

const options = z.strictObject({
  tasks: z.int().min(1).default(500).describe('Number of tasks; fewer where there are fewer'),
  split: z.enum(['train', 'validation', 'test']).default('test').describe('Which tasks'),
  step: z.int().min(0).optional().describe('Which checkpoint; default: the last'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  json: z.boolean().default(false).describe('Print JSON'),
});

export const evalCommand: Command<typeof options> = defineCommand({
  name: 'eval',
  summary: 'Measure a trained agent on held-out tasks, sampled and greedy',
  arguments: [{ name: 'run', description: 'Name of the run', required: true }],
  options,
  examples: [
    'turnwise eval frozen-lake-rloo-1',
    'turnwise eval frozen-lake-rloo-1 --tasks 2000 --split validation',
  ],
  async run({
    arguments: { run: name },
    options: { tasks, split, step, runs: root, json },
    console,
    interrupts,
  }) {
    const learner = await openCheckpoint({
      root,
      name: name!,
      ...(step !== undefined && { step }),
      findFactory: findEnvironment,
      signal: interrupts.signal,
    });
    const display = runDisplay(console, { json, now: () => performance.now() });
    const progress = (done: number, total: number): void => {
      const event: ProgressEvent = {
        type: 'progress',
        phase: 'evaluate',
        done,
        total,
        waitingFor: 'episodes',
      };
      display.show(event);
    };
    const play = async (temperature: number, label: string): Promise<EvaluationResult> => {
      const { result } = await evaluate({
        ...playOptions(learner, interrupts.signal),
        split,
        tasks,
        // The chance of the run's own evaluations, so that equal numbers of tasks give equal figures.
        label: `evaluation-${label}`,
        sampling: { temperature, topP: 1, topK: 0 },
        onEpisode: progress,
      });
      return result;
    };
    try {
      display.show({ type: 'phase', phase: 'evaluate' });
      const sampled = await play(1, 'sampled');
      const greedy = await play(0, 'greedy');
      display.close();
      if (json) {
        console.write(`${JSON.stringify({ run: name, split, sampled, greedy })}\n`);
        return;
      }
      const rows = [
        { label: 'sampled', result: sampled },
        { label: 'greedy', result: greedy },
      ].map(({ label, result }) => [
        label,
        formatInterval(result.success, result.successInterval, 3),
        formatInterval(result.return, result.returnInterval, 3),
        result.turns.toFixed(1),
        String(result.episodes),
      ]);
      const columns = [
        { title: '' },
        { title: 'success (95% interval)' },
        { title: 'return (95% interval)' },
        { title: 'turns', align: 'right' },
        { title: 'tasks', align: 'right' },
      ] as const;
      console.write(`${table(columns, rows, painter(console.colour)).join('\n')}\n`);
    } finally {
      display.close();
      await learner.engine.close();
    }
  },
});
