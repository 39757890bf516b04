/** Which run is worth opening, and is anything wrong with one that is going on? */

import type { RunList, RunRow } from '../../shapes.ts';
import { stateMarks } from '../../state.ts';
import { bundleStart } from '../data/bundle.ts';
import { useLoaded } from '../data/loaded.ts';
import { useChanges } from '../data/use-changes.ts';
import { useKeys } from '../navigation/keys.ts';
import { compareAddress } from '../navigation/places.ts';
import { address, go, query, show } from '../navigation/router.ts';
import { Choice } from '../parts/choice.tsx';
import { Link } from '../parts/link.tsx';
import { useRow } from '../parts/rows.tsx';
import { Search } from '../parts/search.tsx';
import { Shell } from '../parts/shell.tsx';
import { plural } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import { chosenKey, groupKeys, settingText } from './grouping.ts';
import { Overlay } from './overlay.tsx';
import { RunTable } from './run-table.tsx';

export function RunsPage() {
  const version = useChanges(bundleStart === undefined ? '/api/live' : undefined);
  const { value, problem } = useLoaded<RunList>('/api/runs', version);
  return (
    <Shell crumbs={[{ label: 'runs' }]} isFirst problem={value ? undefined : problem}>
      {value && <List list={value} />}
    </Shell>
  );
}

function List({ list }: { readonly list: RunList }) {
  const wanted = query.value.get('q') ?? '';
  const selected = new Set((query.value.get('runs') ?? '').split(',').filter(Boolean));
  const keys = groupKeys(list.runs);
  const key = chosenKey(keys, query.value.get('by'));
  const rows = list.runs
    .filter((run) => matches(run, wanted))
    .sort((a, b) => b.history.began - a.history.began);
  const sorted = key === undefined ? rows : grouped(rows, key);
  const chosen = useRow('run', sorted.length, '', (index) => go(address('runs', sorted[index]!.name)));
  const current = sorted[chosen];
  const toggle = (run: RunRow): void => {
    if (selected.has(run.name)) selected.delete(run.name);
    else selected.add(run.name);
    show({ runs: selected.size === 0 ? undefined : [...selected].join(',') });
  };
  useKeys([
    { key: ' ', does: 'draw its curve above', act: () => current && toggle(current) },
    {
      key: 'c',
      does: 'compare the runs that are drawn',
      act: () => selected.size > 0 && go(compareAddress([...selected])),
    },
  ]);
  if (list.runs.length === 0) return <Empty list={list} />;
  const overlaid = sorted.filter(({ name }) => selected.has(name));
  return (
    <>
      <div class="title">
        <div>
          <h1>Runs</h1>
          <p class="ink2">
            {plural(list.runs.length, 'run')} in <code>{list.root}</code>
          </p>
        </div>
        <div class="tools">
          <Search what="Filter runs" hint="Name, world, recipe" />
          {keys.length > 0 && (
            <Choice
              label="group by"
              value={key ?? 'nothing'}
              options={['nothing', ...keys].map((name) => [name, name])}
              onChange={(by) => show({ by })}
            />
          )}
        </div>
      </div>
      {overlaid.length > 0 && <Overlay runs={overlaid} groupBy={key} />}
      {overlaid.length > 1 && (
        <p class="compared">
          <Link to={compareAddress(overlaid.map(({ name }) => name))}>
            Compare these {overlaid.length} runs
          </Link>{' '}
          <kbd>c</kbd>
        </p>
      )}
      <section class="card flush" aria-label="Runs">
        <RunTable
          rows={sorted}
          chosen={chosen}
          selected={selected}
          onToggle={toggle}
          groupOf={(run) => (key === undefined ? undefined : `${key} ${settingText(run, key)}`)}
        />
        {sorted.length === 0 && <p class="ink2 empty">No run matches “{wanted}”.</p>}
      </section>
      <Comparisons />
      <p class="ink2 small">
        {Object.entries(stateMarks)
          .filter(([state]) => list.runs.some((run) => run.state === state))
          .map(([state, mark]) => `${mark} ${state}`)
          .join('   ')}
      </p>
    </>
  );
}

function Comparisons() {
  const { value: names = [] } = useLoaded<string[]>(
    bundleStart === undefined ? '/api/comparisons' : undefined,
  );
  if (names.length === 0) return null;
  return (
    <section class="card" aria-label="Comparisons">
      <h2>Comparisons</h2>
      <ul class="plain-list">
        {names.map((name) => (
          <li key={name}>
            <Link to={address('comparisons', name)}>{oneLine(name, 80)}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function matches({ name, world, recipe, state, seed }: RunRow, wanted: string): boolean {
  const text = `${name} ${world} ${recipe} ${state} seed ${seed ?? ''}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Runs of one value together, each group where its newest run is. */
function grouped(rows: readonly RunRow[], key: string): RunRow[] {
  const groups = new Map<string, RunRow[]>();
  for (const row of rows) {
    const value = settingText(row, key);
    groups.set(value, [...(groups.get(value) ?? []), row]);
  }
  return [...groups.values()].flat();
}

function Empty({ list }: { readonly list: RunList }) {
  return (
    <section class="card notice">
      <h1>No runs yet</h1>
      <p>
        There is no run in <code>{list.root}</code>. This makes one, and it appears here:
      </p>
      <pre>npx {list.begin}</pre>
    </section>
  );
}
