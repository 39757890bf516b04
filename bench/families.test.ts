import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { familiesPage, readFamilies } from './families.ts';

const root = new URL('../', import.meta.url).pathname;

test.runIf(existsSync(`${root}bench/families.json`))(
  'docs/families.md is what the run showed: npm run bench -- families report',
  () => {
    const result = readFamilies(`${root}bench/families.json`);
    expect(readFileSync(`${root}docs/families.md`, 'utf8')).toBe(familiesPage(result));
    expect(Object.keys(result.curves)).toHaveLength(4);
    for (const points of Object.values(result.curves)) expect(points.length).toBeGreaterThan(0);
  },
);
