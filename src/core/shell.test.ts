import { expect, test } from 'vitest';
import { commandLine } from './shell.ts';

test('words that a shell would split or read are quoted', () => {
  expect(
    commandLine(['turnwise', 'compare', '--set', 'a.b=1e-3', '--runs', 'my runs', "it's", '$HOME']),
  ).toBe(`turnwise compare --set a.b=1e-3 --runs 'my runs' 'it'\\''s' '$HOME'`);
});
