/** The legend of a conversation, which leads to the tokens of a colour, and the search in its text: `n` and `N` step through both. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../navigation/keys.ts';
import { query, show } from '../navigation/router.ts';
import { paint } from '../tokens/highlights.ts';
import { Legend } from '../tokens/legend.tsx';
import type { Scale } from '../tokens/scales.ts';
import { tokenAsked } from '../tokens/token-text.tsx';
import { namesFrom, nextPlace, type Place, reveal, textsIn, tokensIn, usualLevel } from '../tokens/walk.ts';

interface FindProps {
  readonly scale: Scale;
  readonly missing: Partial<Record<Scale, string>>;
  readonly onScale: (scale: Scale) => void;
  /** Whether all of the conversation is drawn; otherwise `onSearch` draws it. */
  readonly isWhole: boolean;
  readonly onSearch: () => void;
}

const levelOf = (text: string | null, scale: Scale): number =>
  text !== null && /^\d$/.test(text) ? Number(text) : usualLevel(scale);

export function Find({ scale, missing, onScale, isWhole, onSearch }: FindProps) {
  const wanted = query.value.get('find') ?? '';
  const level = levelOf(query.value.get('level'), scale);
  const holder = useRef<HTMLDivElement>(null);
  const here = useRef<Place | undefined>(undefined);
  const [told, tell] = useState('');
  const conversation = (): Element => holder.current!.closest('.conversation')!;

  const walk = (by: 1 | -1, placesNow: () => readonly Place[]): void => {
    if (!isWhole) {
      onSearch();
      requestAnimationFrame(() => step(by, placesNow()));
    } else step(by, placesNow());
  };
  const step = (by: 1 | -1, places: readonly Place[]): void => {
    const next = nextPlace(places, here.current, by);
    const place = places[next];
    tell(place ? `${next + 1} of ${places.length}` : 'none');
    if (!place) return;
    here.current = place;
    reveal(place);
    const tokens = place.node.parentElement?.closest<HTMLElement>('.tokens');
    tokens?.focus({ preventScroll: true });
    tokens?.dispatchEvent(new CustomEvent(tokenAsked, { detail: place.start }));
  };
  const tokensFrom = (from: number): Place[] => tokensIn(conversation(), namesFrom(scale, from));
  const places = (): Place[] => (wanted === '' ? tokensFrom(level) : textsIn(conversation(), wanted));

  // What was found is marked as it stands now: turns are drawn again, and long texts grow.
  useEffect(() => {
    if (wanted === '' || !holder.current) return;
    const off = places().map((place) => {
      const isHere = place.node === here.current?.node && place.start === here.current.start;
      return paint(place.node as Text, [place.start], [place.end], [isHere ? 'found-here' : 'found']);
    });
    return () => {
      for (const one of off) one();
    };
  });

  useKeys([
    { key: '/', does: 'search', act: () => document.getElementById('search')?.focus() },
    { key: 'n', does: 'next of the legend, or found', act: () => walk(1, places) },
    { key: 'N', does: 'previous of them', act: () => walk(-1, places) },
  ]);
  return (
    <div ref={holder}>
      <Legend
        scale={scale}
        missing={missing}
        onChange={(name) => {
          show({ level: undefined });
          onScale(name);
        }}
        level={level}
        onLevel={(next) => {
          show({ level: next === usualLevel(scale) ? undefined : next, find: undefined });
          walk(1, () => tokensFrom(next));
        }}
      >
        <label class="field find">
          <span class="unseen">Search the conversation</span>
          <input
            id="search"
            type="search"
            placeholder="Search"
            value={wanted}
            onInput={({ currentTarget }) => {
              here.current = undefined;
              tell('');
              show({ find: currentTarget.value || undefined });
            }}
            onKeyDown={({ key, shiftKey }) => {
              if (key === 'Enter') walk(shiftKey ? -1 : 1, places);
            }}
          />
          <kbd>/</kbd>
          <span class="ink2 small" role="status">
            {told}
          </span>
        </label>
      </Legend>
    </div>
  );
}
