/** Is the difference real? What `turnwise compare` found, in its own words and numbers. */

import type { StoredArm, StoredComparison, StoredPair, StoredWorld } from '../../comparison.ts';
import { Chart } from '../charts/chart.tsx';
import { dashes, seriesColours } from '../charts/colours.ts';
import { useLoaded } from '../data/loaded.ts';
import { Shell } from '../parts/shell.tsx';
import { type Column, TableHead } from '../parts/table-head.tsx';
import { number, share, size } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

const columns: readonly Column[] = [
  'Arm',
  ...['Seeds', 'Start', 'Final', 'Area', 'Collapsed', 'Tokens', 's/step'].map((right) => ({ right })),
];

export function ComparePage({ name }: { readonly name: string }) {
  const path = `/api/comparisons/${encodeURIComponent(name)}`;
  const { value, problem } = useLoaded<StoredComparison>(path);
  return (
    <Shell crumbs={[{ label: 'comparisons', to: '/' }, { label: name }]} problem={problem}>
      {value && <Body comparison={value} />}
    </Shell>
  );
}

function Body({ comparison }: { readonly comparison: StoredComparison }) {
  const { name, conclusion, worlds, pairs, overall } = comparison;
  return (
    <>
      <div class="title">
        <div>
          <h1>{oneLine(name)}</h1>
          <p class="ink2">
            {worlds.map(({ world }) => oneLine(world, 40)).join(', ')} · {comparison.time.slice(0, 10)}
          </p>
        </div>
      </div>
      <p class="banner">{conclusion}</p>
      {worlds.map((world) => (
        <World key={world.world} world={world} />
      ))}
      {overall.length > 0 && <Overall comparison={comparison} />}
      <Differences pairs={pairs} />
    </>
  );
}

function World({ world }: { readonly world: StoredWorld }) {
  const { arms, axis, isShare } = world;
  const longest = arms.reduce<StoredArm | undefined>(
    (best, arm) => (best === undefined || arm.curve.length > best.curve.length ? arm : best),
    undefined,
  );
  const xs = longest?.curve.map(({ spent }) => spent) ?? [];
  const values = arms.flatMap(({ curve }) => curve.map(({ value }) => value));
  const top = isShare ? 1 : Math.max(...values, 0) * 1.12 || 1;
  return (
    <section class="card" aria-label={world.world}>
      <div class="card-head">
        <h2>
          {oneLine(world.world, 60)}: {world.title.charAt(0).toLowerCase() + world.title.slice(1)}
        </h2>
        <span class="ink3 small">means over seeds, by {axis}</span>
      </div>
      {xs.length > 1 && (
        <Chart
          xs={xs}
          lines={arms.map(({ arm, curve }, index) => ({
            label: oneLine(arm, 18),
            short: oneLine(arm, 9),
            colour: seriesColours[index] ?? 'grey',
            dash: dashes[index] ?? [],
            width: 1.75,
            values: xs.map((_, place) => curve[place]?.value ?? null),
          }))}
          range={[Math.min(0, ...values), top]}
          height={260}
          axes
          label={`${world.title} of ${arms.length} arms by ${axis}`}
        />
      )}
      <div class="scrolls" tabIndex={0} role="region" aria-label="Arms">
        <table class="rows plain">
          <TableHead columns={columns} />
          <tbody>
            {arms.map(({ arm, seeds, counted, figures }) => (
              <tr key={arm}>
                <th scope="row">{oneLine(arm, 40)}</th>
                <td class={`right${counted < seeds ? ' red' : ''}`}>
                  {counted === seeds ? seeds : `${counted} of ${seeds}`}
                </td>
                <td class="right">{share(figures?.warm)}</td>
                <td class="right">
                  <b>{share(figures?.final)}</b>
                </td>
                <td class="right">{share(figures?.area)}</td>
                <td class="right">{figures ? figures.collapses : '—'}</td>
                <td class="right">{figures ? size(Math.round(figures.tokens)) : '—'}</td>
                <td class="right">{number(figures?.secondsPerStep, 2)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Overall({ comparison }: { readonly comparison: StoredComparison }) {
  const { overall, thresholds, improvement } = comparison;
  return (
    <section class="card" aria-label="All worlds">
      <div class="card-head">
        <h2>All worlds</h2>
        <span class="ink3 small">share of runs above a final value</span>
      </div>
      <Chart
        xs={[...thresholds]}
        lines={overall.map(({ arm, profile }, index) => ({
          label: oneLine(arm, 18),
          short: oneLine(arm, 9),
          colour: seriesColours[index] ?? 'grey',
          dash: dashes[index] ?? [],
          width: 1.75,
          values: [...profile],
        }))}
        range={[0, 1]}
        height={220}
        axes
        label="Performance profiles"
      />
      <ul class="plain-list">
        {overall.map((one) => (
          <li key={one.arm}>
            {oneLine(one.arm, 40)}: mean over worlds <b>{share(one.mean, 3)}</b>, interquartile mean{' '}
            <b>{share(one.interquartileMean, 3)}</b>
          </li>
        ))}
        {improvement.map(({ first, second, probability }) => (
          <li key={`${first} ${second}`} class="ink2">
            A run of {oneLine(second, 40)} is better than one of {oneLine(first, 40)} with probability{' '}
            {share(probability)}.
          </li>
        ))}
      </ul>
    </section>
  );
}

/** All intervals of one metric on one axis, so that they can be compared by eye. */
function Differences({ pairs }: { readonly pairs: readonly StoredPair[] }) {
  if (pairs.length === 0) return null;
  const metrics = [...new Set(pairs.map(({ metric }) => metric))];
  return (
    <section class="card" aria-label="Differences">
      <div class="card-head">
        <h2>Differences, seed by seed</h2>
        <span class="ink3 small">the second minus the first, 95 % interval</span>
      </div>
      {metrics.map((metric) => (
        <Metric key={metric} metric={metric} pairs={pairs.filter((pair) => pair.metric === metric)} />
      ))}
    </section>
  );
}

function Metric({ metric, pairs }: { readonly metric: string; readonly pairs: readonly StoredPair[] }) {
  const reach = Math.max(
    1e-9,
    ...pairs.flatMap(({ mean, low = mean, high = mean }) => [low, high, mean].map(Math.abs)),
  );
  const place = (value: number): number => 50 + (46 * value) / reach;
  return (
    <>
      <h3>{metric}</h3>
      <ul class="differences">
        {pairs.map(({ first, second, world, mean, low, high, text, p, wins }) => (
          <li key={`${first} ${second} ${world}`}>
            <span>
              <b>{oneLine(second, 30)}</b> <span class="ink2">− {oneLine(first, 30)}</span>{' '}
              <span class="ink3 small">{oneLine(world, 30)}</span>
            </span>
            <svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
              <line class="zero" x1="50" x2="50" y1="0" y2="14" />
              {low !== undefined && high !== undefined && (
                <line class="whisker" x1={place(low)} x2={place(high)} y1="7" y2="7" />
              )}
              <line class="dot" x1={place(mean)} x2={place(mean)} y1="3" y2="11" />
            </svg>
            <span class="told">
              {text}{' '}
              <span class="ink2 small">
                p {p} · {wins}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
