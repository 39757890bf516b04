/** Text that somebody else wrote: inert, its direction its own, and a piece at a time where it is long. */

import { useState } from 'preact/hooks';
import type { CutText } from '../../shapes.ts';
import { bundleStart } from '../data/bundle.ts';
import { askJson } from '../data/client.ts';
import { bytes } from '../text/format.ts';
import { safeText } from '../text/safe-text.ts';

interface LongTextProps {
  readonly cut: CutText;
  /** Where the rest of it is asked for. */
  readonly more?: string;
}

/** Longer lines are broken into several elements, which browsers lay out much faster. */
const blockCharacters = 2000;

export function LongText({ cut, more }: LongTextProps) {
  const [shown, setShown] = useState(cut);
  const { text, whole = 0 } = shown.text.startsWith(cut.text) ? shown : cut;
  const load = async (): Promise<void> => {
    const next = await askJson<{ readonly text: string; readonly whole: number }>(
      `${more}&from=${text.length}`,
    );
    setShown({ text: text + next.text, whole: next.whole });
  };
  return (
    <div class="text" dir="auto">
      {blocksOf(safeText(text)).map((block, index) => (
        <span key={index}>{block}</span>
      ))}
      {text.length < whole && more !== undefined && bundleStart === undefined && (
        <p class="more">
          <span class="ink2">
            {bytes(text.length)} of {bytes(whole)}
          </span>{' '}
          <button type="button" onClick={() => void load()}>
            Show {bytes(Math.min(64 * 1024, whole - text.length))} more
          </button>
        </p>
      )}
    </div>
  );
}

function blocksOf(text: string): string[] {
  if (text.length <= blockCharacters) return [text];
  return text.match(new RegExp(`[^]{1,${blockCharacters}}`, 'gu')) ?? [];
}
