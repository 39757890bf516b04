import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth, padEnd, painter, truncate, wrap } from '../show/console.ts';
import {
  formatCount,
  formatInterval,
  formatScore,
  formatSeconds,
  formatTicks,
  niceTicks,
} from '../show/format.ts';
import { keptApart } from '../show/kept-apart.ts';
import { plot, type Series } from '../show/plot.ts';
import { sparkline } from '../show/sparkline.ts';
import { table } from '../show/table.ts';

const plain = painter(false);

describe('sparkline', () => {
  it('spans its own range, or a given one', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8)).toBe('▁▂▃▄▅▆▇█');
    expect(sparkline([0, 0.5, 1], 8, [0, 1])).toBe('▁▅█');
  });

  it('averages longer series, draws a flat one in the middle, and nothing from nothing', () => {
    expect(sparkline([0, 0, 1, 1], 2, [0, 1])).toBe('▁█');
    expect(sparkline([3, 3, 3], 8)).toBe('▅▅▅');
    expect(sparkline([], 8)).toBe('');
    expect(sparkline([Number.NaN, 1], 8, [0, 1])).toBe('█');
  });

  it('is never wider than asked', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 })),
        fc.integer({ min: 1, max: 50 }),
        (values, width) => {
          expect(sparkline(values, width)).toHaveLength(Math.min(values.length, width));
        },
      ),
    );
  });
});

describe('numbers', () => {
  it('read well', () => {
    expect([0, 999, 1000, 12_345, 498_000, 999_500, 4_560_000].map(formatCount)).toEqual([
      '0',
      '999',
      '1.00k',
      '12.3k',
      '498k',
      '1.00M',
      '4.56M',
    ]);
    expect([0.04, 9.96, 59.6, 185, 7620].map(formatSeconds)).toEqual([
      '0.0s',
      '10s',
      '1m 00s',
      '3m 05s',
      '2h 07m',
    ]);
    expect(formatScore(-6.84)).toBe('−6.84');
    expect(formatScore(Number.NaN)).toBe('–');
    expect(formatInterval(0.93, [0.91, 0.95])).toBe('0.93 (0.91 to 0.95)');
  });

  it('of an axis are round and cover the range', () => {
    expect(niceTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(formatTicks(niceTicks(-32, -6.84, 5))).toEqual(['−40', '−30', '−20', '−10', '0']);
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, min: -1e4, max: 1e4 }),
        fc.double({ noNaN: true, min: 0.001, max: 1e4 }),
        (low, span) => {
          const ticks = niceTicks(low, low + span, 5);
          expect(ticks[0]).toBeLessThanOrEqual(low + span * 1e-6);
          expect(ticks.at(-1)).toBeGreaterThanOrEqual(low + span * (1 - 1e-6));
          expect(ticks.length).toBeLessThan(14);
        },
      ),
    );
  });
});

describe('text', () => {
  it('is measured without colours, and wide characters twice', () => {
    expect(displayWidth('\u001b[32mgreen\u001b[39m')).toBe(5);
    expect(displayWidth('日本')).toBe(4);
    expect(padEnd('日本', 6)).toBe('日本  ');
    expect(truncate('a long sentence', 7)).toBe('a long…');
  });

  it('is coloured only where that is wanted', () => {
    expect(plain('red', 'x')).toBe('x');
    expect(painter(true)('red', 'x')).toBe('\u001b[31mx\u001b[39m');
  });

  it('is wrapped at spaces, and never too wide', () => {
    expect(wrap('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 40 }), (text, width) => {
        const lines = wrap(text, width);
        expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(/[ \n]/g, '')).toBe(text.replaceAll(/[ \n]/g, ''));
      }),
    );
  });

  it('stands in columns', () => {
    const columns = [{ title: 'run' }, { title: 'steps', align: 'right' as const }];
    const rows = [
      [painter(true)('red', 'a'), '5'],
      ['maze', '100'],
    ];
    expect(table(columns, rows, plain).map((line) => stripVTControlCharacters(line))).toEqual([
      '  run   steps',
      '  a         5',
      '  maze    100',
    ]);
  });
});

describe('plot', () => {
  const line = (points: [number, number][]): Series => ({
    label: 'success',
    marker: '●',
    line: true,
    colour: 'green',
    points,
  });

  it('draws a curve with axes', () => {
    const chart = plot(
      [
        line([
          [0, 0.4],
          [10, 0.7],
          [20, 0.85],
          [40, 0.95],
        ]),
        {
          label: 'greedy',
          marker: '○',
          line: false,
          colour: 'magenta',
          points: [
            [0, 0.8],
            [40, 0.96],
          ],
        },
      ],
      { columns: 50, rows: 6, yRange: [0, 1], xLabel: 'step' },
      plain,
    );
    expect(chart.join('\n')).toMatchInlineSnapshot(`
      "1.0 ┤                                       ⢀⣀⣀⣀⣀●
          │○            ⣀⣀⣀⣀⠤⠤⠤⠤⠒●⠒⠒⠒⠒⠒⠊⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠁
          │     ⣀⡠⠤⠔⠒⠊●⠉
      0.5 ┤●⠒⠒⠉⠉
          │
      0.0 ┤
          └─────────────────────────────────────────────
           0                                     step 40
           ● success   ○ greedy"
    `);
  });

  it('needs two points', () => {
    expect(plot([line([[0, 1]])], { columns: 50, rows: 6, yRange: [0, 1], xLabel: 'step' }, plain)).toEqual(
      [],
    );
  });

  it('stays in its frame for any values', () => {
    const point = fc.tuple(
      fc.integer({ min: 0, max: 1000 }),
      fc.double({ noNaN: true, min: -1e5, max: 1e5 }),
    );
    fc.assert(
      fc.property(
        fc.array(point, { minLength: 2, maxLength: 30 }),
        fc.integer({ min: 30, max: 120 }),
        (points, columns) => {
          const chart = plot([line(points)], { columns, rows: 8, yRange: [0, 1], xLabel: 'step' }, plain);
          expect(Math.max(...chart.map(displayWidth))).toBeLessThanOrEqual(Math.max(columns, 40));
        },
      ),
    );
  });
});

describe('labels of a chart', () => {
  it('stay where they belong where there is room, and give way to both sides where there is none', () => {
    expect(keptApart([10, 50, 90], 16, [0, 100])).toEqual([10, 50, 90]);
    expect(keptApart([50, 50], 16, [0, 100])).toEqual([42, 58]);
    expect(keptApart([60, 52, 10], 16, [0, 100])).toEqual([64, 48, 10]);
  });

  it('keep their distance and their order within the chart', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, min: 0, max: 200 }), { maxLength: 8 }), (wanted) => {
        const places = keptApart(wanted, 16, [0, 200]);
        const sorted = [...wanted.keys()].sort((a, b) => places[a]! - places[b]!);
        for (const [rank, index] of sorted.entries()) {
          expect(places[index]).toBeGreaterThanOrEqual(-1e-9);
          expect(places[index]).toBeLessThanOrEqual(200 + 1e-9);
          if (rank === 0) continue;
          const above = sorted[rank - 1]!;
          expect(places[index]! - places[above]!).toBeGreaterThanOrEqual(16 - 1e-9);
          expect(wanted[index]!).toBeGreaterThanOrEqual(wanted[above]!);
        }
      }),
    );
  });
});
