/** Modules of `browser/` folders stand in for those of `node/` folders: what others import of these, they have. */

import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const src = new URL('..', import.meta.url).pathname;
const twins = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /\/browser\/[^/]+\.ts$/.test(path),
);

test.each(twins)('%s exports what the module of Node does', async (path) => {
  const own = Object.keys((await import(/* @vite-ignore */ `../${path}`)) as object);
  const replaced = Object.keys(
    (await import(/* @vite-ignore */ `../${path.replace('/browser/', '/node/')}`)) as object,
  );
  expect(own).toEqual(expect.arrayContaining(replaced));
});

test('there are some', () => expect(twins.length).toBeGreaterThan(2));
