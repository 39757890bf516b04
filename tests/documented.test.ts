/** Every metric and every warning in the source is in its table, and links of pages lead somewhere. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('..', import.meta.url).pathname;

function sources(...folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.test(-helper)?\.ts$/.test(name))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  );
}

/** First cells of all table rows, where they are code. */
function documented(file: string): Set<string> {
  const rows = readFileSync(join(root, 'docs', file), 'utf8').matchAll(/^\| (`[^|]+) \|/gm);
  return new Set([...rows].flatMap(([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)));
}

test('docs/metrics.md lists every metric that the training code writes', () => {
  const family =
    'reward|turns|tokens|policy|value|optim|groups|episodes|samples|clone|game|time|speed|loop|preference|imitation|critic';
  const pattern = new RegExp(`'((?:${family})/[a-z0-9_]+)'`, 'g');
  const written = new Set(
    sources('src/train', 'src/objective').flatMap((text) =>
      [...text.matchAll(pattern)].map(([, name]) => name!),
    ),
  );
  const known = documented('metrics.md');
  expect(written.size).toBeGreaterThan(25);
  expect([...written].filter((name) => !known.has(name)).sort()).toEqual([]);
});

test('docs/metrics.md lists every warning', () => {
  const codes = sources('src').flatMap((text) =>
    [...text.matchAll(/type: 'warning',\s*code: '([a-z-]+)'/g)].map(([, code]) => code!),
  );
  const known = documented('metrics.md');
  expect(codes.length).toBeGreaterThan(1);
  expect(codes.filter((code) => !known.has(code))).toEqual([]);
});

/** The names under which a page's headings can be linked to: equal ones are numbered. */
function anchorsOf(markdown: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
  const named = [...markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name]) => name!);
  return new Set([
    ...named,
    ...headings.map((heading) => {
      const count = seen.get(heading) ?? 0;
      seen.set(heading, count + 1);
      return count === 0 ? heading : `${heading}-${count}`;
    }),
  ]);
}

test('every link of a page leads to a file, and to a heading in it', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
    .concat(readdirSync(join(root, 'docs')).map((name) => `docs/${name}`))
    .filter((name) => name.endsWith('.md'));
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].flatMap(([, target]) => {
      const [file = '', anchor] = target!.split('#');
      const path = file === '' ? page : join(dirname(page), file);
      if (!existsSync(join(root, path))) return [`${page}: ${target}`];
      const leads = anchor === undefined || !path.endsWith('.md') || anchorsOf(read(path)).has(anchor);
      return leads ? [] : [`${page}: ${target}`];
    }),
  );
  expect(broken).toEqual([]);
});
