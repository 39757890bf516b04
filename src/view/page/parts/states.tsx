/** What stands where something is not there: an error with what to do next, nothing yet, still loading. */

import { useEffect, useState } from 'preact/hooks';
import type { Problem } from '../../shapes.ts';

const patienceMs = 150;

export function Failed({ problem }: { readonly problem: Problem }) {
  return (
    <div class="card notice" role="alert">
      <p>{problem.message}</p>
      <code class="ink3">{problem.code}</code>
    </div>
  );
}

/** Nothing at first: what comes at once must not flicker. */
export function Waiting({ lines = 3 }: { readonly lines?: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={shown ? 'waiting shown' : 'waiting'} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="bone" />
      ))}
    </div>
  );
}
