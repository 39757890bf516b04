/** A project with a user's files, and the commands that name them. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { creditCommand } from '../../src/cli/commands/credit.ts';
import { evalCommand } from '../../src/cli/commands/eval.ts';
import { resumeCommand } from '../../src/cli/commands/resume.ts';
import { trainCommand } from '../../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../../src/cli/testing-console.test-helper.ts';
import { type RunSettings, type Sink, start } from '../../src/exports/index.ts';
import { makeProject, type Project } from '../../src/run/load/project.test-helper.ts';
import { files, playFiles } from './definition-sources.test-helper.ts';

const built = new URL('../../dist/src/exports/credit.js', import.meta.url).pathname;
if (!existsSync(built)) throw new Error(`${built} does not exist: run "npm run build" first`);

/** Folder of runs. */
export const root: string = mkdtempSync(join(tmpdir(), 'turnwise-definitions-'));
export const project: Project = makeProject({ ...files, ...playFiles });

export function removeProject(): void {
  project.remove();
  rmSync(root, { recursive: true, force: true });
}

export const tiny: RunSettings = {
  steps: 1,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 20, steps: 2, batch: 8 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
  checkpoint: { every: 1 },
};

/** `key=value` of nested settings. */
const assignments = (settings: object, path = ''): string[] =>
  Object.entries(settings).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null
      ? assignments(value, `${path}${key}.`)
      : ['--set', `${path}${key}=${String(value)}`],
  );

export interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export async function command(...words: string[]): Promise<Ended> {
  const console = memoryConsole({ columns: 10_000 });
  const code = await runCommandLine(words, {
    commands: [trainCommand, resumeCommand, evalCommand, creditCommand],
    version: '0',
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors().replaceAll(/\s+/g, ' ') };
}

export const configOf = (name: string): { readonly config: Record<string, Record<string, unknown>> } =>
  JSON.parse(readFileSync(join(root, name, 'config.json'), 'utf8')) as {
    config: Record<string, Record<string, unknown>>;
  };

export const trainWith = (name: string, ...set: string[]): Promise<Ended> =>
  command(
    ...['train', 'frozen-lake', '--recipe', 'rloo', '--name', name, '--runs', root],
    ...assignments(tiny),
    ...set.flatMap((assignment) => ['--set', assignment]),
  );

export const refusal = async (name: string, ...set: string[]): Promise<string> => {
  const { code, errors } = await trainWith(name, ...set);
  expect(code).toBeGreaterThan(0);
  return errors;
};

/** A run that has one step of two, made by a program. */
export async function stopped(name: string, settings: RunSettings): Promise<void> {
  const event: Sink['event'] = ({ type }) => {
    if (type === 'step') run.stop();
  };
  const options = { world: 'frozen-lake', recipe: 'rloo', runs: root, sinks: [{ event }] };
  const run = await start({ ...options, name, settings: { ...settings, steps: 2 } });
  await expect(run.finished).rejects.toThrow('asked to stop');
}
