/** Comparisons whose runs are commands of this process, for tests. */

import { type Children, problemOf } from '../../compare/child-run.ts';
import type { StoredEvent } from '../../train/loop/events.ts';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { compareWith } from './compare.ts';
import { resumeCommand } from './resume.ts';
import { trainCommand } from './train.ts';

/** Runs the commands in this process, and remembers them; `fails` are ended before they begin. */
export function inProcess(ran: string[], fails: readonly string[] = []): () => Children {
  return () => ({
    async run(wordsNow, onEvent) {
      const words = wordsNow();
      const name = words[0] === 'resume' ? words[1]! : words[words.indexOf('--name') + 1]!;
      const short = name.replace(/^frozen-lake-(.*)-[0-9a-f]{10}$/, '$1');
      ran.push(`${words[0]} ${short}`);
      if (fails.includes(short)) return { code: 'disk-full', message: 'The disk is full.' };
      const console = {
        ...memoryConsole(),
        write: (text: string) => onEvent(JSON.parse(text) as StoredEvent),
      };
      const commands = [trainCommand, resumeCommand];
      const surroundings = { commands, version: '0.1.0', console, interrupts: noInterrupts };
      const code = await runCommandLine([...words, '--json'], surroundings);
      return code === 0 ? undefined : problemOf(console.errors(), code, null);
    },
    stop: () => undefined,
    kill: () => undefined,
  });
}

const tiny = [
  'model.width=16',
  'model.layers=1',
  'model.heads=2',
  'model.hidden=16',
  'clone.demonstrations=30',
  'clone.steps=4',
  'clone.batch=8',
  'rollout.tasks=4',
  'rollout.group=4',
  'evaluation.tasks=6',
  'evaluation.finalTasks=8',
].flatMap((assignment) => ['--set', assignment]);

/** Compares rloo and ppo in frozen-lake over two seeds of two tiny steps, where `more` says nothing else. */
export async function compareTiny(children: () => Children, root: string, ...more: string[]) {
  const console = memoryConsole();
  const line = ['compare', '--env', 'frozen-lake', '--recipes', 'rloo,ppo', '--seeds', '2'];
  const code = await runCommandLine([...line, '--budget', 'steps=2', '--runs', root, ...tiny, ...more], {
    commands: [compareWith(children)],
    version: '0.1.0',
    console,
    interrupts: noInterrupts,
  });
  const errors = console.errors().replaceAll(/\s+/g, ' ').replaceAll(root, 'FOLDER');
  return { code, output: console.output(), errors };
}
