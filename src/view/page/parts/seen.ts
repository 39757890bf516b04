/** Whether a part of a page was on the screen, or nearly. */

import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const margin = '100px';

export function useSeen(holder: RefObject<Element | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.at(-1)!.isIntersecting) return;
        setSeen(true);
        observer.disconnect();
      },
      { rootMargin: margin },
    );
    observer.observe(holder.current!);
    return () => observer.disconnect();
  }, []);
  return isSeen;
}
