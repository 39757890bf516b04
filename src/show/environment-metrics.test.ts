import { expect, test } from 'vitest';
import { painter } from './console.ts';
import { environmentMetricLines } from './environment-metrics.ts';

test('a row for each metric, a column for each way of playing', () => {
  const lines = environmentMetricLines(
    [
      { label: 'before', metrics: { 'env/looks': 1, 'env/depth': 2.345 } },
      { label: 'after', metrics: { 'env/depth': 3 } },
      { label: 'later' },
    ],
    painter(false),
  );
  expect(`\n${lines.join('\n')}\n`).toMatchInlineSnapshot(`
    "
                 before  after  later
      env/depth    2.35   3.00      –
      env/looks    1.00      –      –
    "
  `);
  expect(environmentMetricLines([{ label: 'before' }], painter(false))).toEqual([]);
});
