/** Files of users load as their project loads them. */

import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { relative } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { importFile } from './import-file.ts';
import { loadFile } from './load-file.ts';
import { environmentSource, makeProject, type Project } from './project.test-helper.ts';

const projects: Project[] = [];
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
});

function project(files: Readonly<Record<string, string>>): Project {
  const made = makeProject(files);
  projects.push(made);
  return made;
}

/** The export `all` of a file. */
async function all(made: Project, name = 'agent.ts'): Promise<unknown> {
  return (await importFile(name, made.path(name))).all;
}

const failure = async (made: Project, name = 'agent.ts'): Promise<string> =>
  (
    await importFile(name, made.path(name)).then(
      () => new Error('it loaded'),
      (error: Error) => error,
    )
  ).message;

/** Where a message says a file is. */
const place = (made: Project, name: string): string => {
  const short = relative(process.cwd(), made.path(name));
  return short.startsWith('..') ? made.path(name) : short;
};

test('the template of Next.js: aliases, no extensions, a type import, enums, JSON', async () => {
  const next = project({
    'package.json': '{ "name": "next-app", "private": true }',
    'tsconfig.json': `{
      // As create-next-app writes it.
      "compilerOptions": { "target": "ES2017", "module": "esnext", "moduleResolution": "bundler", "strict": true,
        "resolveJsonModule": true, "isolatedModules": true, "jsx": "preserve", "noEmit": true,
        "plugins": [{ "name": "next" }], "paths": { "@/*": ["./*"] } },
      "include": ["next-env.d.ts", "**/*.ts", "**/*.tsx"], "exclude": ["node_modules"],
    }`,
    'lib/words.ts': `export enum Colour { Red = 'red', Green = 'green' }\nexport namespace Limits { export const turns = 3; }`,
    'lib/types.ts': 'export interface Task { readonly colour: string }',
    'lib/tasks.json': '["a", "b"]',
    'lib/prompt.tsx': `import { Colour } from './words';\nexport const prompt = <T,>(task: T) => \`\${task} \${Colour.Green}\`;`,
    'lib/tools/index.ts': `export * from './search';`,
    'lib/tools/search.mts': 'export const search = (query: string): string => query.toUpperCase();',
    'app/agent.ts': `
      import { Colour, Limits } from '@/lib/words';
      import type { Task } from '@/lib/types';
      import tasks from '@/lib/tasks.json';
      import { prompt } from '@/lib/prompt';
      import { search } from '../lib/tools';
      const task: Task = { colour: Colour.Red };
      const parts = [task.colour, Limits.turns, tasks, prompt('x'), search('q')];
      export const lake = ${environmentSource('lake', `parts.join(' ')`)};`,
  });
  expect(await loadFile(next.path('app/agent.ts'))).toMatchObject({
    name: 'lake',
    description: 'red 3 a,b x green Q',
    source: next.path('app/agent.ts'),
  });
});

test('the template of Vite: aliases and baseUrl in a tsconfig.json that refers to others, old decorators', async () => {
  const vite = project({
    'package.json': '{ "name": "vite-app", "type": "module" }',
    'tsconfig.json': '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }] }',
    'tsconfig.app.json': `{ "compilerOptions": { "baseUrl": "src", "paths": { "~/*": ["./*"] },
      "experimentalDecorators": true }, "include": ["src"] }`,
    'src/shout.ts': `export const shout = (target: object, key: string, descriptor: PropertyDescriptor) =>
      ({ ...descriptor, value: () => 'HELLO' });`,
    'src/greeter.ts': `import { shout } from '~/shout.js';\nexport class Greeter { @shout greet() { return 'hello'; } }`,
    'src/agent.ts': `import { Greeter } from 'greeter';\nexport const all = new Greeter().greet();`,
  });
  expect(await all(vite, 'src/agent.ts')).toBe('HELLO');
});

test('packages stay outside, one copy of each, by the conditions that Node uses', async () => {
  const made = project({
    'package.json': '{ "type": "module", "imports": { "#names": "./names.ts" } }',
    'names.ts': `export const names = ['n'];`,
    'node_modules/old/package.json': '{ "name": "old", "main": "index.js" }',
    'node_modules/old/index.js': 'exports.folder = __dirname; exports.Thing = class Thing {};',
    'node_modules/dual/package.json':
      '{ "name": "dual", "exports": { "import": "./i.mjs", "require": "./r.cjs" } }',
    'node_modules/dual/i.mjs': `export default 'import';`,
    'node_modules/dual/r.cjs': `module.exports = 'require';`,
    'node_modules/source/package.json': '{ "name": "source", "exports": "./index.ts" }',
    'node_modules/source/index.ts': `export enum Kind { A = 'a' }`,
    'legacy.cjs': `const { Thing } = require('old');
      module.exports = { Thing, dual: require('dual'), data: require('./data'), folder: __dirname };`,
    'data.json': '{ "a": 1 }',
    'typed.cts': `import path = require('node:path');\nexport = { file: path.basename(__filename) };`,
    'agent.ts': `
      import { folder, Thing } from 'old';
      import dual from 'dual';
      import { Kind } from 'source';
      import { names } from '#names';
      import legacy from './legacy.cjs';
      import typed from './typed.cjs';
      let missing = '';
      try { require('optional-package'); } catch (error) { missing = error.code; }
      const late = await import('optional-package').catch((error) => error.code);
      export const all = { folder, dual, kind: Kind.A, names, same: legacy.Thing === Thing, legacy: legacy.dual,
        data: legacy.data, legacyFolder: legacy.folder, typed, missing, late };`,
  });
  expect(await all(made)).toEqual({
    folder: made.path('node_modules/old'),
    dual: 'import',
    kind: 'a',
    names: ['n'],
    same: true,
    legacy: 'require',
    data: { a: 1 },
    legacyFolder: made.folder,
    typed: { file: 'typed.cts' },
    missing: 'MODULE_NOT_FOUND',
    late: 'ERR_MODULE_NOT_FOUND',
  });
});

test('a module knows where its source file is', async () => {
  const made = project({
    'package.json': '{ "type": "module" }',
    'deep/words.txt': 'red green',
    'deep/words.ts': `
      import { readFileSync } from 'node:fs';
      import { dirname, join } from 'node:path';
      import { fileURLToPath } from 'node:url';
      const __filename: string = fileURLToPath(import.meta.url);
      const __dirname = dirname(__filename);
      export const words = [
        readFileSync(new URL('./words.txt', import.meta.url), 'utf8'),
        readFileSync(join(__dirname, 'words.txt'), 'utf8'),
        readFileSync(join(import.meta.dirname, 'words.txt'), 'utf8'),
        import.meta.filename,
      ];`,
    'agent.ts': `import { words } from './deep/words';\nexport const all = words;`,
  });
  expect(await all(made)).toEqual(['red green', 'red green', 'red green', made.path('deep/words.ts')]);
});

test('imports that run later, names of functions, the same objects when a file is loaded again', async () => {
  const made = project({
    'package.json': '{ "type": "module" }',
    'lazy.ts': `globalThis.lazyRuns = (globalThis.lazyRuns ?? 0) + 1;\nexport const run = () => 'lazy';`,
    'agent.ts': `import { run as other } from './other';
      export function run() { return other.name; }
      export const all = { name: run.name, other: run(), before: globalThis.lazyRuns,
        later: async () => [(await import('./lazy')).run(), globalThis.lazyRuns] };`,
    'other.ts': `export function run() {}`,
  });
  const found = (await all(made)) as { later(): Promise<unknown> };
  expect(found).toMatchObject({ name: 'run', other: 'run', before: undefined });
  expect(await found.later()).toEqual(['lazy', 1]);
  expect(await all(made)).toBe(found);
  made.write('other.ts', 'export function changed() {}\nexport { changed as run };');
  expect(await all(made)).toMatchObject({ other: 'changed' });
});

test('JavaScript goes to Node as it is, and to the bundler where Node cannot import it', async () => {
  const made = project({
    'package.json': '{ "type": "module" }',
    'plain.js': 'export const all = import.meta.url;',
    'common.cjs': 'exports.all = __filename;',
    'bundled.js': `import { words } from './words';\nexport const all = [words, import.meta.filename];`,
    'words.js': `export const words = 'found';`,
  });
  expect(await all(made, 'plain.js')).toMatch(/^file:.*plain\.js/);
  expect(await all(made, 'common.cjs')).toBe(made.path('common.cjs'));
  expect(await all(made, 'bundled.js')).toEqual(['found', made.path('bundled.js')]);
});

test('failures name the file and line of the user, also in a file that is imported', async () => {
  const made = project({
    'package.json': '{ "type": "module" }',
    'syntax.ts': 'export const a = 1;\nexport const b = (;\n',
    'located.ts': 'const here = import.meta.url;\n\nconst there = ;\n',
    'located-export.ts': `type A = 1;\n\nconst here: A = import.meta.url;\n\nimport { zebra } from './good';\nexport const all = [here, zebra];`,
    'missing.ts': `\nimport { b } from './nowhere';\nexport const all = b;`,
    'no-package.ts': `\n\nimport { b } from 'no-such-package';\nexport const all = b;`,
    'no-export.ts': `import {\n  zebra } from './good';\nexport const all = zebra;`,
    'throws.ts': `interface Lines {\n  readonly above: string;\n}\n\nthrow new Error('oops');\nexport const all = 1;`,
    'good.ts': 'export const good = 1;',
    'a-type.ts': 'export type A = number;',
    'forgets-type.ts': `import { A } from './a-type';\nexport { A };`,
  });
  for (const name of Object.keys({ syntax: 1, located: 1, throws: 1 })) {
    made.write(`parent-of-${name}.ts`, `import './${name}';\nexport const all = 1;`);
  }
  const cannot = (name: string, seen: string): string => `${name} cannot be loaded. Seen: ${seen}.`;
  const typeAdvice =
    " If you meant to import a type rather than a value, make sure to add the `type` modifier (e.g. `import { type Foo } from './good'`).";
  expect(await failure(made, 'parent-of-syntax.ts')).toBe(
    cannot('parent-of-syntax.ts', `${place(made, 'syntax.ts')}:2:19: Unexpected token`),
  );
  expect(await failure(made, 'parent-of-located.ts')).toBe(
    cannot('parent-of-located.ts', `${place(made, 'located.ts')}:3:15: Unexpected token`),
  );
  expect(await failure(made, 'located-export.ts')).toBe(
    cannot(
      'located-export.ts',
      `${place(made, 'located-export.ts')}:5:10: "zebra" is not exported by "good.ts"`,
    ),
  );
  expect(await failure(made, 'missing.ts')).toBe(
    cannot('missing.ts', `${place(made, 'missing.ts')}:2:19: Could not resolve './nowhere' in missing.ts`),
  );
  expect(await failure(made, 'no-package.ts')).toBe(
    cannot(
      'no-package.ts',
      `${place(made, 'no-package.ts')}:3:19: Could not resolve 'no-such-package' in no-package.ts`,
    ),
  );
  expect(await failure(made, 'no-export.ts')).toBe(
    cannot('no-export.ts', `${place(made, 'no-export.ts')}:2:3: "zebra" is not exported by "good.ts"`) +
      typeAdvice,
  );
  expect(await failure(made, 'parent-of-throws.ts')).toBe(
    cannot('parent-of-throws.ts', `oops (${place(made, 'throws.ts')}:5)`),
  );
  expect(await failure(made, 'forgets-type.ts')).toMatch(
    /"A" is not exported by "a-type.ts". If you meant to import a type .*add the `type` modifier/,
  );
});

test('loading leaves no files behind', async () => {
  const made = project({
    'agent.ts': 'export const all = 1;',
    'bad.ts': 'throw new Error("no");\nexport {};',
  });
  const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('turnwise-load-'));
  const before = left();
  await all(made);
  await all(made);
  await failure(made, 'bad.ts');
  expect(left().filter((name) => !before.includes(name))).toEqual([]);
  expect(readdirSync(made.folder).sort()).toEqual(['agent.ts', 'bad.ts']);
});

test('a file of this repository may import its sources', async () => {
  const source = (name: string): string => new URL(`../../${name}`, import.meta.url).pathname;
  const made = project({
    'agent.ts': `import { defineEnvironment } from '${source('env/environment.ts')}';
      export const mine = defineEnvironment(${environmentSource('mine')});`,
  });
  expect(await loadFile(made.path('agent.ts'))).toMatchObject({ name: 'mine' });
});
