/** The state beside the conversation, as the environment draws it. */

import type { ShownEpisode } from '../../shapes.ts';
import { useKeys } from '../navigation/keys.ts';
import type { GroupAt } from '../navigation/places.ts';
import { query, show } from '../navigation/router.ts';
import { oneLine, safeText } from '../text/safe-text.ts';
import { useWork } from './use-work.ts';

interface StateCardProps {
  readonly at: GroupAt;
  readonly episode: ShownEpisode;
  readonly member: number;
  readonly chosen: number | undefined;
}

/** Drawn when it is asked for, since the environment's own code must run; the address keeps that it was. */
export function StateCard({ at, episode, member, chosen }: StateCardProps) {
  const wanted = query.value.has('state');
  const { events, problem } = useWork({ at, episode, member, work: 'states', wanted });
  const turn = chosen ?? 0;
  const states = events.flatMap((event) => (event.kind === 'state' ? [event] : []));
  const state = states.find((one) => one.turn === turn);
  const after = states.find((one) => one.turn === turn + 1);
  const toggle = (): void => show({ state: wanted ? undefined : 1 });
  useKeys([{ key: 'v', does: 'the state beside it', act: toggle }]);
  return (
    <section class="card state-card" aria-label="State">
      <div class="card-head">
        <h2>State{wanted && ` before turn ${turn + 1}`}</h2>
        <button type="button" aria-pressed={wanted} onClick={toggle}>
          {wanted ? 'Hide' : 'Show'} <kbd>v</kbd>
        </button>
      </div>
      {problem && (
        <p class="red small" role="alert">
          {problem.message}
        </p>
      )}
      {wanted && !problem && !state && (
        <p class="ink2 small" role="status">
          {states.length === 0 ? 'Playing it again …' : 'The environment has no state here.'}
        </p>
      )}
      {state && <Picture text={state.picture} />}
      {state?.actions && state.actions.length > 0 && (
        <p class="ink2 small">Legal: {oneLine(state.actions.join(', '), 200)}</p>
      )}
      {after?.picture !== undefined && (
        <details>
          <summary>After it</summary>
          <Picture text={after.picture} />
        </details>
      )}
    </section>
  );
}

function Picture({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return <p class="ink2 small">This environment draws no picture of its state.</p>;
  return <pre class="picture">{safeText(text)}</pre>;
}
