/**
 * A part of a long page that is in the document only near the screen; elsewhere its height stands for it. What somebody
 * clicked in, or where the keyboard or a selection is, stays.
 */

import { type AriaAttributes, type ComponentChildren, createElement } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface NearProps extends AriaAttributes {
  readonly tag: 'tbody' | 'article';
  /** Its height until it was drawn once. */
  readonly height: number;
  /** Whether it is drawn wherever it is. */
  readonly always: boolean;
  readonly draw: () => ComponentChildren;
  readonly id?: string;
}

/** Drawn before it can be seen: most of a screen. */
const margin = '600px';

export function Near({ tag, height: guess, always, draw, ...rest }: NearProps) {
  const holder = useRef<HTMLElement>(null);
  const height = useRef(guess);
  const clicked = useRef(false);
  const [isNear, setNear] = useState(false);
  useLayoutEffect(() => {
    const element = holder.current!;
    const observer = new IntersectionObserver(
      (entries) => {
        const { isIntersecting, boundingClientRect } = entries.at(-1)!;
        height.current = boundingClientRect.height;
        const isInUse =
          clicked.current ||
          element.contains(document.activeElement) ||
          getSelection()?.containsNode(element, true);
        if (isIntersecting || !isInUse) setNear(isIntersecting);
      },
      { rootMargin: margin },
    );
    if (!always) observer.observe(element);
    return () => observer.disconnect();
  }, [always]);
  const spacer = { style: { height: `${height.current}px` }, class: 'spacer', 'aria-hidden': true };
  const onClickCapture = (): void => {
    clicked.current = true;
  };
  return createElement(
    tag,
    { ref: holder, onClickCapture, ...rest },
    always || isNear ? draw() : createElement(tag === 'tbody' ? 'tr' : 'div', spacer),
  );
}
