/** The files that the guides show train as they stand there, from a folder outside the package. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunSettings, train } from '../src/exports/index.ts';
import { makeProject, type Project } from '../src/run/load/project.test-helper.ts';

const root = new URL('..', import.meta.url).pathname;
const runs = mkdtempSync(join(tmpdir(), 'turnwise-guides-'));
let project: Project;

/** The TypeScript block of a page that has this line. */
function block(page: string, line: string): string {
  const blocks = readFileSync(join(root, 'docs', page), 'utf8').matchAll(/```ts\n(.*?)```/gs);
  const found = [...blocks].map(([, code]) => code!).filter((code) => code.includes(line));
  if (found.length !== 1) throw new Error(`docs/${page} shows ${found.length} blocks with "${line}"`);
  return found[0]!;
}

beforeAll(() => {
  if (!existsSync(join(root, 'dist/src/exports/index.js'))) throw new Error('run "npm run build" first');
  project = makeProject({
    'treasure.ts': block('write-an-environment.md', '// treasure.ts'),
    'best.ts': block('write-a-recipe.md', '// best.ts'),
    'branch.ts': block('write-a-recipe.md', 'const again: Explorer'),
  });
});
afterAll(() => {
  project.remove();
  rmSync(runs, { recursive: true, force: true });
});

const tiny = {
  steps: 1,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 20, steps: 2, batch: 8 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, finalTasks: 4 },
};

const at = (name: string): string => project.path(name);
const cases: readonly [string, () => { world?: string; recipe?: string; settings?: RunSettings }][] = [
  ['an environment', () => ({ world: at('treasure.ts') })],
  ['a recipe', () => ({ recipe: at('best.ts'), settings: { best: { share: 0.5 } } as RunSettings })],
  ['a recipe with an explorer', () => ({ recipe: at('branch.ts') })],
];

test('the recipe of the guide is the one of the package', () => {
  const source = readFileSync(join(root, 'examples/own-recipe.ts'), 'utf8');
  expect(block('write-a-recipe.md', '// best.ts')).toContain(source.slice(source.indexOf('import ')));
});

test.each(cases)('%s', { timeout: 120_000 }, async (_, options) => {
  const { world = 'frozen-lake', recipe, settings } = options();
  const { steps } = await train({
    world,
    ...(recipe !== undefined && { recipe }),
    settings: { ...tiny, ...settings } as RunSettings,
    runs,
  });
  expect(steps).toBe(1);
});
