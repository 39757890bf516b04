/** Projects of users, written into a folder for one test. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Project {
  readonly folder: string;
  /** The absolute path of one of its files. */
  path(name: string): string;
  write(name: string, text: string): string;
  remove(): void;
}

export function makeProject(files: Readonly<Record<string, string>>): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnwise project ')));
  const project: Project = {
    folder,
    path: (name) => join(folder, name),
    write(name, text) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  for (const [name, text] of Object.entries(files)) project.write(name, text);
  return project;
}

/** The source of an environment whose description is a JavaScript expression. */
export const environmentSource = (name: string, description = `''`): string => `{
  name: '${name}', description: ${description}, maxTurns: 1,
  tasks: () => ({ size: 1, at: () => 1 }),
  start: () => ({ state: 0, messages: [{ role: 'user', content: 'go' }] }),
  step: (state: number) => ({ state, observation: '', reward: 1, done: true, success: true, valid: true }),
}`;
