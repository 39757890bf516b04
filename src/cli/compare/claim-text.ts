/** Verdicts for the terminal. */

import type { JudgedClaim } from '../../compare/claims/claim-verdict.ts';
import type { Verdict } from '../../evidence/verdict.ts';
import { type Console, type Paint, painter, wrap } from '../../show/console.ts';
import { formatScore } from '../../show/format.ts';
import { table } from '../../show/table.ts';
import { differenceText, formatP, winsText } from './figures.ts';

const colours: Readonly<Record<Verdict, Parameters<Paint>[0]>> = {
  reproduced: 'green',
  refuted: 'red',
  'of our implementation only': 'yellow',
  'cannot fail here': 'yellow',
  undecided: 'cyan',
  void: 'red',
  pending: 'dim',
};

export function claimsText(
  claims: readonly JudgedClaim[],
  page: string | undefined,
  screen: Pick<Console, 'columns' | 'colour'>,
): string {
  const paint = painter(screen.colour);
  const lines = claims.flatMap((judged) => [
    '',
    `${paint('bold', judged.claim.id)}  ${paint(colours[judged.judgement.verdict], judged.judgement.verdict)}`,
    ...wrap(judged.claim.about, Math.min(screen.columns, 80) - 2).map((line) => `  ${line}`),
    ...wrap(reasonOf(judged), Math.min(screen.columns, 80) - 2).map((line) => `  ${paint('dim', line)}`),
    ...partLines(judged, screen),
  ]);
  return `${[...lines, ...(page === undefined ? [] : ['', `Page: ${page}`])].join('\n')}\n`;
}

/** `every part holds; p 0.02 after Holm over 6 claims; …` */
export function reasonOf({ judgement, adjusted, family, stored, precedence }: JudgedClaim): string {
  const { why, seedsNeeded } = judgement;
  return [
    why,
    ...(stored
      ? [`p ${formatP(adjusted)} after Holm over ${family} ${family === 1 ? 'claim' : 'claims'}`]
      : []),
    ...(seedsNeeded === undefined ? [] : [`about ${seedsNeeded} seeds would decide`]),
    ...(precedence?.unchecked === undefined
      ? []
      : [`whether the claim is older was not checked: ${precedence.unchecked}`]),
  ].join('; ');
}

function partLines({ parts }: JudgedClaim, { colour }: Pick<Console, 'colour'>): string[] {
  if (parts.length === 0) return [];
  return table(
    [
      { title: 'part' },
      { title: 'difference' },
      { title: 'w/t/l' },
      { title: 'p', align: 'right' },
      { title: 'break-even', align: 'right' },
    ],
    parts.map(({ against, kind, size, comparison, breakEven }) => [
      `${kind === 'no worse' ? `no worse than ${against} by ${size}` : `above ${against}${kind === 'placebo' ? ' (placebo)' : ''}`}`,
      differenceText(comparison, (value) => formatScore(value, 3)),
      winsText(comparison),
      formatP(comparison.p),
      breakEven === undefined ? '' : formatScore(breakEven),
    ]),
    painter(colour),
  );
}
