/** Six figures above the curves. One that is over its limit is red, and says why that matters. */

import { figuresOf } from '../../figures.ts';
import type { RunOverview } from '../../shapes.ts';

export function Figures({ overview }: { readonly overview: RunOverview }) {
  const figures = figuresOf(overview);
  return (
    <>
      <dl class="card figures">
        {figures.map(({ name, value, note, alarm }) => (
          <div key={name} class={alarm === undefined ? '' : 'alarm'}>
            <dt>{name}</dt>
            <dd>{value}</dd>
            <dd class="note">{note}</dd>
          </div>
        ))}
      </dl>
      {figures.flatMap(({ name, alarm }) =>
        alarm === undefined
          ? []
          : [
              <p key={name} class="banner alarm">
                {alarm}
              </p>,
            ],
      )}
    </>
  );
}
