/** `turnwise tail`: what the page of a run says, in the terminal, while the run goes on. */

import { z } from 'zod';
import { exactJson } from '../../core/json/exact-json.ts';
import { version } from '../../run/version.ts';
import { painter } from '../../show/console.ts';
import { EventTail } from '../../store/event-tail.ts';
import { unknownRun } from '../../store/runs.ts';
import { overviewOf } from '../../view/server/overview.ts';
import { RunsFolder } from '../../view/server/runs-folder.ts';
import { type Command, defineCommand } from '../command.ts';
import { RepaintedBlock } from '../terminal/repaint.ts';
import { eventLine, tailBlock } from '../terminal/tail-text.ts';

const options = z.strictObject({
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  lines: z.int().min(0).default(10).describe('Steps and events to begin with, where nobody watches'),
  json: z.boolean().default(false).describe('Print events as JSON lines'),
});

const everyMs = 500;

export const tailCommand: Command<typeof options> = defineCommand({
  name: 'tail',
  summary: 'Watch a run in the terminal: figures, curves and warnings, until it ends',
  arguments: [{ name: 'run', description: 'Name of the run', required: true }],
  options,
  examples: ['turnwise tail frozen-lake-rloo-1', 'turnwise tail frozen-lake-rloo-1 | grep warning'],
  async run({ arguments: { run: name }, options: { runs: root, lines: most, json }, console, interrupts }) {
    const folder = new RunsFolder({ root, version });
    const run = folder.list().find((one) => one.name === name);
    if (!run) throw unknownRun(root, name!);
    const paint = painter(console.colour);
    const paints = console.interactive && !json;
    const block = new RepaintedBlock(console);
    const tail = new EventTail(run.eventsPath);
    let isFirst = true;
    for (;;) {
      // Asked before the log is read, so that nothing of a run that ends meanwhile is missed.
      const state = run.state();
      const { lines } = tail.next(true);
      if (paints) {
        const curve = run.metrics().series(['reward/success'], 2 * console.columns);
        block.paint('', tailBlock(overviewOf(folder, run), curve, console.columns, paint));
      } else {
        const texts = lines.flatMap(({ event }) => {
          const text = json ? exactJson(event) : eventLine(event);
          return text === undefined ? [] : [`${text}\n`];
        });
        const shown = isFirst ? texts.slice(Math.max(0, texts.length - most)) : texts;
        if (shown.length > 0) console.write(shown.join(''));
      }
      isFirst = false;
      if (state !== 'running' || interrupts.signal.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs);
        interrupts.signal.addEventListener('abort', () => resolve(), { once: true });
        timer.ref();
      });
    }
  },
});
