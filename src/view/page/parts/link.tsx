/** A link to another page of the viewer. */

import type { ComponentChildren } from 'preact';
import { tokenFragment } from '../data/client.ts';
import { prefetch } from '../data/loaded.ts';
import { go, hrefOf } from '../navigation/router.ts';

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly label?: string;
  readonly current?: boolean;
  /** What the page will ask for. */
  readonly asks?: string;
  readonly children: ComponentChildren;
}

export function Link({ to, asks, current, label, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  // Another tab shares nothing with this one, so that its address must bring the key.
  const intoTab = (event: MouseEvent): void => {
    const link = event.currentTarget as HTMLAnchorElement;
    link.href =
      event.ctrlKey || event.metaKey || event.button === 1 ? hrefOf(to) + tokenFragment : hrefOf(to);
  };
  return (
    <a
      href={hrefOf(to)}
      {...rest}
      {...(label !== undefined && { 'aria-label': label })}
      {...(current && { 'aria-current': 'page' })}
      onClick={follow}
      onMouseDown={intoTab}
      {...(asks !== undefined && { onMouseEnter: () => prefetch(asks) })}
    >
      {children}
    </a>
  );
}
