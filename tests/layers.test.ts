/** Folders are layers: an import may only go down. Leaves are named nowhere but in the composition root, `run/`, and above it. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** Lowest first. A layer may import itself and everything before it. */
const LAYERS = [
  'core',
  'env',
  'graph',
  'model',
  'policy',
  'rollout',
  'data',
  'credit',
  'objective',
  'wire',
  'curation',
  'prompts',
  'engine',
  'synth',
  'eval',
  'evidence',
  'train',
  'store',
  'server',
  'run',
  'testing',
  'show',
  'view',
  'browser',
  'compare',
  'cli',
  'exports',
];

/** Implementations that only the composition root may name. */
const LEAVES = [
  'src/engine/embedded',
  'src/engine/tinker',
  'src/env/remote',
  'src/server',
  'src/store',
  'envs',
];

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

interface Import {
  readonly from: string;
  readonly to: string;
  /** Gone at run time. */
  readonly typesOnly: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const pattern = /(import type [^;]*?)?(?:from|import\()\s*'(\.[^']+)'/g;
  return [...text.matchAll(pattern)].map(([, typesOnly, path]) => ({
    from: file,
    to: relative(root, resolve(root, dirname(file), path!)),
    typesOnly: typesOnly !== undefined,
  }));
}

/** `src/testing` is for the tests of users, and a layer as any other. */
const isTest = (file: string): boolean => /\.test(-helper)?\.ts$|\/[^/]+\/testing\//.test(file);
const layerOf = (file: string): string | undefined => /^src\/([^/]+)\//.exec(file)?.[1];
const imports = sources('src')
  .filter((file) => !isTest(file))
  .flatMap(importsOf);

test('every folder of src is a layer', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  expect(folders.filter((folder) => !LAYERS.includes(folder))).toEqual([]);
});

test('imports only go down', () => {
  const rank = (file: string): number => LAYERS.indexOf(layerOf(file) ?? '');
  const upward = imports.filter(({ from, to }) => layerOf(to) !== undefined && rank(to) > rank(from));
  expect(upward).toEqual([]);
});

test('leaves are named only by the composition root, by what is above it and by themselves', () => {
  const wrong = imports.filter(({ from, to }) => {
    const leaf = LEAVES.find((name) => to.startsWith(`${name}/`));
    return (
      leaf !== undefined &&
      !from.startsWith(`${leaf}/`) &&
      !/^src\/(run|show|view|browser|compare|cli|exports)\//.test(from)
    );
  });
  expect(wrong).toEqual([]);
});

test('a folder holds at most 25 files, tests not counted', () => {
  const counts = new Map<string, number>();
  for (const file of [...sources('src'), ...sources('envs')].filter((file) => !isTest(file))) {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  expect([...counts].filter(([, count]) => count > 25)).toEqual([]);
});

/** The derivative of an operator is made of other operators, and theirs of it again. */
const isOperator = (file: string): boolean => file.startsWith('src/graph/operators/');

test('no file needs itself by way of others', () => {
  const needs = new Map<string, string[]>();
  for (const { from, to, typesOnly } of imports) {
    if (!typesOnly && !(isOperator(from) && isOperator(to)))
      needs.set(from, [...(needs.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    for (const next of needs.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of needs.keys()) visit(file, []);
  expect(circles).toEqual([]);
});

test('graph knows nothing of language or reinforcement learning, credit nothing of engines', () => {
  const only = (layer: string, allowed: readonly string[]): Import[] =>
    imports.filter(
      ({ from, to }) =>
        layerOf(from) === layer && layerOf(to) !== layer && !allowed.includes(layerOf(to) ?? ''),
    );
  expect(only('graph', ['core'])).toEqual([]);
  expect(only('credit', ['core', 'env'])).toEqual([]);
});

/** They run wherever JavaScript does; what needs Node lies in folders called `node/`. */
const ANYWHERE = [
  'src/core',
  'src/env',
  'src/graph',
  'src/policy',
  'src/rollout',
  'src/credit',
  'src/objective',
  'src/curation',
  'src/train/loop',
];

test('the method itself asks nothing of Node outside folders called node', () => {
  const asking = ANYWHERE.flatMap(sources).filter(
    (file) =>
      !isTest(file) &&
      !/\/node\/|^src\/env\/remote\//.test(file) &&
      /(from|import\() ?'(node:|undici|ws)/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(asking).toEqual([]);
});

test('other hosts are asked by one module, which knows the proxy', () => {
  const asking = sources('src').filter(
    (file) =>
      !isTest(file) &&
      !/^src\/(view\/page|core\/node)\//.test(file) &&
      /(?<![\w.])fetch\(|'undici'|import \{[^}]*\brequest\b[^}]*\} from 'node:https?'/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
  );
  expect(asking).toEqual([]);
});

/** The files that a program loads, types aside. */
function loadedBy(start: string): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    for (const { to, typesOnly } of importsOf(file)) if (!typesOnly) reached.add(to);
  }
  return reached;
}

const withSchemas = (files: ReadonlySet<string>): string[] =>
  [...files].filter(
    (file) => /\.tsx?$/.test(file) && /from 'zod/.test(readFileSync(join(root, file), 'utf8')),
  );

test('the page in a browser carries no schemas', () => {
  const page = loadedBy('src/view/page/main.tsx');
  expect(page.size).toBeGreaterThan(50);
  expect(withSchemas(page)).toEqual([]);
});

test('threads that only compute load no schemas, which each would load anew', () => {
  const reached = loadedBy('src/engine/embedded/lane-worker.ts');
  expect(reached).toContain('src/engine/embedded/training/training-graph.ts');
  expect(withSchemas(reached)).toEqual([]);
});
