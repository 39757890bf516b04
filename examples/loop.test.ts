import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { main } from './loop.ts';

test('practice makes it clearly better than its teacher made it, and the same seed gives the same run', () => {
  const lines: string[] = [];
  const short = { seed: 3, updates: 40, evaluationLakes: 400 };
  const first = main({ ...short, print: (line) => lines.push(line) });
  expect(first.before).toBeLessThan(0.6);
  expect(first.after).toBeGreaterThan(first.before + 0.2);
  expect(lines).toHaveLength(6);
  expect(main({ ...short, print: () => undefined })).toEqual(first);
});

test('it imports nothing', () => {
  const source = readFileSync(new URL('./loop.ts', import.meta.url), 'utf8');
  expect(source).not.toMatch(/^import /m);
});
