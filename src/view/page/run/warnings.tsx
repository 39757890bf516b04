/** The warnings of a run by their code, each with its last words: what the marks on the axis stand for. */

import type { History } from '../../history.ts';
import { plural } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

export function Warnings({ warnings }: Pick<History, 'warnings'>) {
  if (warnings.length === 0) return null;
  const byCode = new Map<string, History['warnings']>();
  for (const one of warnings) byCode.set(one.code, [...(byCode.get(one.code) ?? []), one]);
  return (
    <details class="warnings">
      <summary>{plural(warnings.length, 'warning')}</summary>
      <dl class="facts">
        {[...byCode].map(([code, all]) => (
          <div key={code}>
            <dt>
              <span class="red">!</span> {oneLine(code, 40)}
              {all.length > 1 && <span class="ink3"> ×{all.length}</span>}
              <span class="ink3 small"> step {steps(all)}</span>
            </dt>
            <dd dir="auto">{oneLine(all.at(-1)!.message, 300)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const mostSteps = 6;

function steps(warnings: History['warnings']): string {
  const all = [...new Set(warnings.map(({ step }) => step))];
  return all.length > mostSteps ? `${all.slice(0, mostSteps).join(', ')} …` : all.join(', ');
}
