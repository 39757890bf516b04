/** What a browser loads before it shows anything, as a network would send it. Everything must fit, uPlot and Preact too. */

import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readPage } from '../server/page-files.ts';

const most = 80_000;

test(`script and style sheet take at most ${most} bytes compressed`, () => {
  const page = readPage();
  const [script, style] = [page['main.js'], page['main.css']].map(
    ({ bytes }) => gzipSync(bytes, { level: 9 }).length,
  );
  expect(script! + style!, `${script} + ${style}`).toBeLessThanOrEqual(most);
});
