/** The tokens of one completion: one text, coloured by token; the token under the pointer or the cursor is told. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { number, signed } from '../text/format.ts';
import { safeText } from '../text/safe-text.ts';
import { canHighlight, paint } from './highlights.ts';
import type { Scale } from './scales.ts';
import { legends, stepOf } from './scales.ts';

export interface TokenTextProps {
  readonly label: string;
  readonly pieces: readonly string[];
  readonly joint: string;
  readonly ids: readonly number[];
  readonly logprobs: readonly (number | null)[];
  readonly entropies?: readonly (number | null)[] | undefined;
  /** One for each token, where there are any. */
  readonly advantages?: readonly (number | undefined)[] | undefined;
  /** Why it is not trained on; undefined where it is. */
  readonly untrained: string | undefined;
  readonly scale: Scale;
}

interface Layout {
  readonly text: string;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** An event for a text of tokens: the token at this offset is to be told. */
export const tokenAsked = 'token-asked';

/** Surprise from which a token is named to who cannot see colours. */
const surprising = 1.5;
const mostNamed = 12;

function layoutOf(pieces: readonly string[], joint: string): Layout {
  const starts = new Uint32Array(pieces.length);
  const ends = new Uint32Array(pieces.length);
  let text = '';
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) text += joint;
    starts[index] = text.length;
    text += safeText(piece);
    ends[index] = text.length;
  }
  return { text, starts, ends };
}

export function TokenText(props: TokenTextProps) {
  const { pieces, joint, ids, logprobs, entropies, advantages, untrained, label } = props;
  const holder = useRef<HTMLDivElement>(null);
  const [chosen, choose] = useState<number | undefined>();
  const layout = useMemo(() => layoutOf(pieces, joint), [pieces, joint]);
  const names = pieces.map((_, index) => nameOf(props, index));
  const painted = names.join();
  useLayoutEffect(() => {
    const node = holder.current?.firstChild;
    return node instanceof Text ? paint(node, layout.starts, layout.ends, names) : undefined;
  }, [layout, painted]);
  useEffect(() => {
    const node = holder.current?.firstChild;
    if (chosen === undefined || !(node instanceof Text)) return;
    return paint(node, [layout.starts[chosen]!], [layout.ends[chosen]!], ['token-chosen']);
  }, [layout, chosen]);
  useEffect(() => {
    const { current } = holder;
    const told = (event: Event): void => choose(tokenAt(layout, (event as CustomEvent<number>).detail));
    current?.addEventListener(tokenAsked, told);
    return () => current?.removeEventListener(tokenAsked, told);
  }, [layout]);
  const point = (event: PointerEvent): void => {
    const span = canHighlight ? null : (event.target as Element).closest<HTMLElement>('[data-token]');
    if (span) choose(Number(span.dataset.token));
    const offset = offsetAt(event.clientX, event.clientY, holder.current!);
    if (offset !== undefined && canHighlight) choose(tokenAt(layout, offset));
  };
  const move = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(Math.min(pieces.length - 1, Math.max(0, (chosen ?? -by) + by)));
  };
  const named = pieces.flatMap((piece, index) => {
    const surprise = -(logprobs[index] ?? 0);
    return surprise >= surprising ? [`${safeText(piece)}, surprise ${number(surprise)}`] : [];
  });
  return (
    <>
      <div
        ref={holder}
        class="tokens"
        role="group"
        aria-label={`${label}; arrow keys walk through the tokens`}
        tabIndex={0}
        onPointerMove={point}
        onPointerLeave={() => choose(undefined)}
        onKeyDown={move}
        onBlur={() => choose(undefined)}
      >
        {canHighlight ? layout.text : <Spans layout={layout} names={names} chosen={chosen} />}
      </div>
      {named.length > 0 && <span class="unseen">{named.slice(0, mostNamed).join('; ')}</span>}
      <div class="token-facts" role="status">
        {chosen !== undefined && (
          <>
            <b>{safeText(pieces[chosen]!) || '(rest of a character)'}</b>
            <span>id {ids[chosen]}</span>
            <span>p {number(Math.exp(logprobs[chosen] ?? Number.NaN))}</span>
            <span>−ln p {number(-(logprobs[chosen] ?? Number.NaN))}</span>
            {entropies && <span>entropy {number(entropies[chosen])}</span>}
            <span>A {signed(advantages?.[chosen])}</span>
            <span>{untrained ?? 'trained'}</span>
            <span>token {chosen + 1}</span>
          </>
        )}
      </div>
    </>
  );
}

interface SpansProps {
  readonly layout: Layout;
  readonly names: readonly (string | undefined)[];
  readonly chosen: number | undefined;
}

/** Where a browser cannot colour ranges of a text: an element for each token. */
function Spans({ layout: { text, starts, ends }, names, chosen }: SpansProps) {
  return (
    <>
      {names.map((name, index) => [
        text.slice(index === 0 ? 0 : ends[index - 1], starts[index]),
        <span
          key={index}
          data-token={index}
          class={`swatch ${name ?? ''}${index === chosen ? ' token-chosen' : ''}`}
        >
          {text.slice(starts[index], ends[index])}
        </span>,
      ])}
    </>
  );
}

function nameOf(props: TokenTextProps, index: number): string | undefined {
  const { scale, logprobs, entropies, advantages, untrained } = props;
  if (scale === 'mask') return untrained === undefined ? 'mask-trained' : 'mask-out';
  const logprob = logprobs[index];
  const value =
    scale === 'surprise'
      ? logprob === null || logprob === undefined
        ? undefined
        : -logprob
      : scale === 'entropy'
        ? entropies?.[index]
        : advantages?.[index];
  const step = stepOf(scale, value);
  return step === undefined ? undefined : legends[scale].steps[step]!.name;
}

/** The token that a place in the text belongs to. */
function tokenAt({ starts, ends }: Layout, offset: number): number | undefined {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return starts.length > 0 && offset <= ends[low]! ? low : undefined;
}

function offsetAt(x: number, y: number, within: HTMLElement): number | undefined {
  const found = document as Document & {
    caretPositionFromPoint?: (x: number, y: number) => { offsetNode: Node; offset: number } | null;
    caretRangeFromPoint?: (x: number, y: number) => Range | null;
  };
  const position = found.caretPositionFromPoint?.(x, y);
  if (position) return within.contains(position.offsetNode) ? position.offset : undefined;
  const range = found.caretRangeFromPoint?.(x, y);
  return range && within.contains(range.startContainer) ? range.startOffset : undefined;
}
