/** The head of every page about one run: what it is, how it stands, and its other pages. */

import type { RunOverview } from '../../shapes.ts';
import { stateMarks } from '../../state.ts';
import { bundleStart } from '../data/bundle.ts';
import { annotationsAddress } from '../navigation/places.ts';
import { address } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { count, duration, size } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import { BundleButton } from './bundle-button.tsx';

const tabs = [
  ['', 'Overview'],
  ['metrics', 'Metrics'],
  ['episodes', 'Episodes'],
  ['evaluations', 'Evaluations'],
  ['config', 'Configuration'],
  ['log', 'Log'],
] as const;

export type RunTab = (typeof tabs)[number][0];

interface RunHeadProps {
  readonly overview: RunOverview;
  readonly tab: RunTab;
}

export function RunHead({ overview, tab }: RunHeadProps) {
  const { name, state, resume, history, metrics, episodes, damaged } = overview;
  const counts: Readonly<Record<string, number>> = {
    metrics: metrics.length,
    episodes,
    evaluations: history.evaluations.length,
  };
  return (
    <>
      <div class="title">
        <div>
          <h1>
            {oneLine(name)}{' '}
            <span class={`state word ${state}`}>
              <span aria-hidden="true">{stateMarks[state]}</span> {state}
            </span>
          </h1>
          <p class="ink2">{facts(overview).join(' · ')}</p>
        </div>
        {bundleStart === undefined && (
          <div class="tools">
            {overview.checkpoints.length > 0 && (
              <Link class="button" to={address('runs', name, 'play')}>
                Play
              </Link>
            )}
            {tab === '' && <BundleButton run={name} />}
          </div>
        )}
      </div>
      {state === 'stopped' && (
        <p class="banner">
          Stopped at step {count(history.step)}. Go on with <code>{resume}</code>
        </p>
      )}
      {damaged > 0 && state !== 'running' && (
        <p class="banner">
          {damaged} {damaged === 1 ? 'line of its log is' : 'lines of its log are'} damaged and left out.
        </p>
      )}
      <nav class="tabs" aria-label="Pages of this run">
        {tabs.map(([path, label]) => (
          <Link
            key={path}
            to={path === '' ? address('runs', name) : address('runs', name, path)}
            current={path === tab}
          >
            {label}
            {counts[path] !== undefined && <span class="ink3"> {count(counts[path])}</span>}
          </Link>
        ))}
        {overview.annotations > 0 && bundleStart === undefined && (
          <Link to={annotationsAddress(name)}>
            Annotations<span class="ink3"> {count(overview.annotations)}</span>
          </Link>
        )}
      </nav>
    </>
  );
}

function facts({ world, recipe, history }: RunOverview): string[] {
  const { start, step, steps, began, last, summary } = history;
  const seconds = summary?.seconds.total ?? (last - began) / 1000;
  return [
    oneLine(world, 40),
    recipe,
    ...(start ? [`seed ${start.seed}`] : []),
    ...(start?.parameters === undefined ? [] : [`${size(start.parameters)} parameters`]),
    ...(start?.adapter === undefined ? [] : [`${size(start.adapter)} in the adapter`]),
    ...(start?.base === undefined ? [] : [oneLine(start.base, 40)]),
    ...(start?.server === undefined ? [] : [oneLine(start.server, 40)]),
    ...(steps > 0 ? [`${count(step)} of ${count(steps)} steps`] : step > 0 ? [`${count(step)} steps`] : []),
    duration(seconds),
  ];
}
