/** What the documents say of the package is what the package is. */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/train-your-agent.md',
  'docs/write-an-environment.md',
];

test('one version of Node is named, wherever one is', () => {
  const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
  const oldest = engines.node.replace('>=', '');
  for (const path of ['README.md', 'CONTRIBUTING.md', '.ci/run']) {
    const named = [...read(path).matchAll(/Node (\d+\.\d+) or later/g)].map(([, version]) => version);
    expect(named, path).toEqual([oldest]);
  }
  expect(read('package-lock.json')).toContain(`"node": "${engines.node}"`);
});

test('the examples that the documents name are in the package, without their tests, and the Python server', () => {
  const named = new Set(
    documents.flatMap((path) => read(path).match(/(?<![\w/])examples\/[\w./-]*\w\.\w+/g) ?? []),
  );
  expect(named.size).toBeGreaterThan(2);
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
  ) as [{ readonly files: readonly { readonly path: string }[] }];
  const shipped = packed.files.map(({ path }) => path).filter((path) => path.startsWith('examples/'));
  expect(shipped).toEqual(expect.arrayContaining([...named, 'examples/rollouts.jsonl']));
  expect(shipped.filter((path) => path.includes('.test.'))).toEqual([]);
  const inPython = packed.files.map(({ path }) => path).filter((path) => path.startsWith('python/'));
  expect(inPython.sort()).toEqual(
    readdirSync(`${root}python`, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `python/${name}`)
      .sort(),
  );
  for (const path of named) expect(existsSync(`${root}${path}`), path).toBe(true);
});

test('the methods in the guide are the ones that run from the installed package', () => {
  const files = readdirSync(`${root}tests/package/methods`);
  expect(files).toHaveLength(7);
  for (const file of files) {
    const example = read(`tests/package/methods/${file}`).replace(/^.*\n\n/, '');
    expect(read('docs/your-own-methods.md'), file).toContain(`\`\`\`ts\n${example}\`\`\``);
    expect(read('.ci/run'), file).toContain(`./${file}`);
  }
});

test('an environment of tools that touches files takes at most 60 lines of code', () => {
  const lines = read('examples/note-desk.ts').split('\n');
  expect(
    lines.filter((line) => line.trim() !== '' && !/^\/[/*]/.test(line.trim())).length,
  ).toBeLessThanOrEqual(60);
});

test('the example of a test in the guide is the one that runs from the installed package', () => {
  const example = read('tests/package/testing.mjs').replace(/^\/\/.*\n/, '');
  expect(read('docs/write-an-environment.md')).toContain(`\`\`\`js\n${example}\`\`\``);
});
