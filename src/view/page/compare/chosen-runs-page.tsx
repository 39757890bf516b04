/** Runs beside each other as they ended: curves, test success with its interval on one axis, and where their settings differ. */

import type { RunList, RunRow } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { address, query } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Shell } from '../parts/shell.tsx';
import { type Column, TableHead } from '../parts/table-head.tsx';
import { settingText } from '../runs/grouping.ts';
import { Overlay } from '../runs/overlay.tsx';
import { count, duration, plural, share } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

export function ChosenRunsPage() {
  const { value, problem } = useLoaded<RunList>('/api/runs');
  const wanted = (query.value.get('runs') ?? '').split(',').filter(Boolean);
  const runs = wanted.flatMap((name) => value?.runs.find((run) => run.name === name) ?? []);
  const missing = wanted.filter((name) => !runs.some((run) => run.name === name));
  return (
    <Shell
      crumbs={[{ label: 'compare' }]}
      up={wanted.length > 0 ? `/?runs=${wanted.map(encodeURIComponent).join(',')}` : '/'}
      problem={problem}
    >
      {value &&
        (runs.length === 0 ? (
          <section class="card notice">
            <h1>Nothing to compare</h1>
            <p>Choose runs on the page of all runs, or name them in the address: /compare?runs=A,B</p>
          </section>
        ) : (
          <Body runs={runs} missing={missing} />
        ))}
    </Shell>
  );
}

function Body({ runs, missing }: { readonly runs: readonly RunRow[]; readonly missing: readonly string[] }) {
  const keys = differingKeys(runs);
  return (
    <>
      <div class="title">
        <div>
          <h1>Compare {plural(runs.length, 'run')}</h1>
          <p class="ink2">
            The intervals are of one evaluation each, over its tasks. Whether settings differ takes seeds in
            pairs: <code>npx turnwise compare</code>
          </p>
        </div>
      </div>
      {missing.length > 0 && (
        <p class="banner">There is no run {missing.map((name) => oneLine(name, 60)).join(', ')} here.</p>
      )}
      <Overlay runs={runs} groupBy={undefined} />
      <Finals runs={runs} />
      <section class="card" aria-label="Settings that differ">
        <h2>Settings that differ</h2>
        {keys.length === 0 ? (
          <p class="ink2">None.</p>
        ) : (
          <div class="scrolls" tabIndex={0} role="region" aria-label="Settings of each run">
            <table class="rows plain">
              <TableHead columns={['Setting', ...runs.map(({ name }) => oneLine(name, 40))]} />
              <tbody>
                {keys.map((key) => (
                  <tr key={key}>
                    <th scope="row">
                      <code>{oneLine(key, 60)}</code>
                    </th>
                    {runs.map((run) => (
                      <td key={run.name}>{oneLine(textOf(run, key), 60)}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </>
  );
}

const textOf = (run: RunRow, key: string): string =>
  key === 'seed' ? String(run.seed ?? '—') : settingText(run, key);

/** Of keys that two runs have at least: other recipes have other settings altogether. */
function differingKeys(runs: readonly RunRow[]): string[] {
  const keys = new Set(['world', 'recipe', 'seed', ...runs.flatMap(({ settings }) => Object.keys(settings))]);
  return [...keys].filter(
    (key) => new Set(runs.map((run) => textOf(run, key)).filter((text) => text !== '—')).size > 1,
  );
}

const columns: readonly Column[] = [
  'Run',
  ...[{ right: 'Before' }, { right: 'Last' }, { unseen: '95 % interval, from 0 to 1' }, { right: 'Best' }],
  ...[{ right: 'Test episodes' }, { right: 'Steps' }, { right: 's/step' }, { right: 'Warnings' }],
];

function Finals({ runs }: { readonly runs: readonly RunRow[] }) {
  return (
    <section class="card" aria-label="Test success of each run">
      <div class="card-head">
        <h2>Test success, sampled</h2>
        <span class="ink3 small wide">
          95 % interval on one axis from 0 to 1; best: of all its evaluations
        </span>
      </div>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Results">
        <table class="rows plain intervals">
          <TableHead columns={columns} />
          <tbody>
            {runs.map((run) => (
              <Result key={run.name} run={run} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Result({ run: { name, history, secondsPerStep } }: { readonly run: RunRow }) {
  const { evaluations, step, warnings } = history;
  const last = evaluations.at(-1);
  const [low, high] = last?.sampled.successInterval ?? [Number.NaN, Number.NaN];
  const best = evaluations.reduce(
    (most, { sampled }) => Math.max(most, sampled.success),
    Number.NEGATIVE_INFINITY,
  );
  return (
    <tr>
      <th scope="row">
        <Link to={address('runs', name)} asks={runPath(name)}>
          {oneLine(name, 60)}
        </Link>
      </th>
      <td class="right">{share(evaluations[0]?.sampled.success)}</td>
      <td class="right">
        <b>{share(last?.sampled.success, 3)}</b>
      </td>
      <td class="interval-cell">
        {last ? (
          <svg
            viewBox="0 0 100 14"
            preserveAspectRatio="none"
            role="img"
            aria-label={`${share(low)} to ${share(high)}`}
          >
            <line class="zero" x1="0" x2="100" y1="13" y2="13" />
            <line class="whisker" x1={100 * low} x2={100 * high} y1="7" y2="7" />
            <line
              class="dot"
              x1={100 * last.sampled.success}
              x2={100 * last.sampled.success}
              y1="3"
              y2="11"
            />
          </svg>
        ) : (
          '—'
        )}
      </td>
      <td class="right">{last ? share(best) : '—'}</td>
      <td class="right">{last ? count(last.sampled.episodes) : '—'}</td>
      <td class="right">{count(step)}</td>
      <td class="right">{secondsPerStep === undefined ? '—' : duration(secondsPerStep)}</td>
      <td class="right">{warnings.length}</td>
    </tr>
  );
}
