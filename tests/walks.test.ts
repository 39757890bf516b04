/** The walks of docs/architecture.md lead past functions that exist. */

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const sections = readFileSync(join(root, 'docs/architecture.md'), 'utf8').split(/^## /m);
/** Sections of numbered stations. */
const walks = sections.filter((section) => /^1\. /m.test(section));

interface Station {
  readonly line: string;
  readonly file: string;
  readonly symbol: string;
}

function stationsOf(walk: string): Station[] {
  return [...walk.matchAll(/^\d+\. .*$/gm)].map(([line]) => {
    const [, file, symbol] = /^\d+\. `([^`]+)`, `([^`]+)`: \S.*\.$/.exec(line) ?? [];
    if (file === undefined || symbol === undefined) throw new Error(`not a station: ${line}`);
    return { line, file, symbol };
  });
}

/** Whether a file declares the name: at its top, or as a method. */
function declares(text: string, symbol: string): boolean {
  return [
    `^(export )?(async )?(function\\*?|class|const|interface) ${symbol}\\b`,
    `^  (static |async )*${symbol}\\(`,
  ].some((pattern) => new RegExp(pattern, 'm').test(text));
}

test('there are three walks', () => {
  expect(walks).toHaveLength(3);
});

describe.each(walks.map((walk) => [walk.split('\n')[0]!, stationsOf(walk)] as const))('%s', (_, stations) => {
  test('has at most ten stations, none visited twice', () => {
    expect(stations.length).toBeGreaterThan(0);
    expect(stations.length).toBeLessThanOrEqual(10);
    expect(new Set(stations.map(({ file }) => file)).size).toBe(stations.length);
  });

  test.each(stations.map(({ file, symbol }) => [file, symbol]))('%s declares %s', (file, symbol) => {
    expect(existsSync(join(root, file))).toBe(true);
    expect(declares(readFileSync(join(root, file), 'utf8'), symbol)).toBe(true);
  });
});
