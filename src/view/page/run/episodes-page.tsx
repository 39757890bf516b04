/** Which episodes should I read? Those of a step or an evaluation, by what the index knows of them. */

import type { MemberRow, RunOverview, StepEpisodes } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { useKeys } from '../navigation/keys.ts';
import { episodeAddress, episodeQuery, placeName } from '../navigation/places.ts';
import { go, query, show } from '../navigation/router.ts';
import { Choice } from '../parts/choice.tsx';
import { Link } from '../parts/link.tsx';
import { Mark } from '../parts/members.tsx';
import { Rows, useRow } from '../parts/rows.tsx';
import { Failed, Waiting } from '../parts/states.tsx';
import { type Column, TableHead } from '../parts/table-head.tsx';
import { count, duration, number, plural, signed } from '../text/format.ts';
import { TabPage } from './tab-page.tsx';

const filters: Readonly<Record<string, (row: MemberRow) => boolean>> = {
  all: () => true,
  succeeded: ({ success }) => success,
  'did not succeed': ({ success, failed }) => !success && !failed,
  'broke off': ({ failed }) => failed,
};

const orders: Readonly<Record<string, (row: MemberRow) => number>> = {
  group: ({ group, member }) => group + member / 1e5,
  return: (row) => -(row.return ?? Number.NEGATIVE_INFINITY),
  surprise: ({ surprise }) => -(surprise ?? Number.NEGATIVE_INFINITY),
  turns: ({ turns }) => -turns,
  tokens: ({ tokens }) => -tokens,
  time: ({ seconds }) => -seconds,
};

const columns: readonly Column[] = [
  'Episode',
  ...['Return', 'Turns', 'Tokens', 'Surprise', 'Advantage', 'Time'].map((right) => ({ right })),
  'End',
];

export function EpisodesPage({ run }: { readonly run: string }) {
  return (
    <TabPage run={run} tab="episodes">
      {(overview) => <Episodes run={run} overview={overview} />}
    </TabPage>
  );
}

function Episodes({ run, overview }: { readonly run: string; readonly overview: RunOverview }) {
  const places = [...overview.stored.map(String), ...overview.evaluated.map((step) => `evaluation-${step}`)];
  const asked = query.value.get('at');
  const place = places.find((one) => one === asked) ?? overview.stored.map(String).at(-1) ?? places.at(-1);
  const { value, problem } = useLoaded<StepEpisodes>(
    place === undefined ? undefined : runPath(run, `/places/${place}`),
  );
  const move = (by: number) => (): void => {
    const next = places[places.indexOf(place ?? '') + by];
    if (next !== undefined) show({ at: next });
  };
  useKeys([
    { key: '[', does: 'previous stored step', act: move(-1) },
    { key: ']', does: 'next stored step', act: move(1) },
  ]);
  if (place === undefined) {
    return (
      <p class="ink2">
        No episodes are stored. <code>--set rolloutLog=1</code> stores those of every step.
      </p>
    );
  }
  if (problem) return <Failed problem={problem} />;
  return (
    <>
      <div class="tools wrap">
        <Choice
          label="of"
          value={place}
          options={offered(places, place).map((one) => [one, placeName(one)])}
          onChange={(next) => show({ at: next })}
        />
        <Choice
          label="which"
          value={query.value.get('where') ?? 'all'}
          options={Object.keys(filters).map((name) => [name, name])}
          onChange={(where) => show({ where })}
        />
        <Choice
          label="by"
          value={query.value.get('sort') ?? 'group'}
          options={Object.keys(orders).map((name) => [name, name])}
          onChange={(sort) => show({ sort })}
        />
      </div>
      {value ? <Table run={run} place={place} members={value.members} /> : <Waiting lines={10} />}
    </>
  );
}

const mostOffered = 200;
const neighbours = 10;

/** Of thousands of steps some from all over the run, and those beside the present one. */
export function offered(places: readonly string[], present: string | undefined): readonly string[] {
  if (places.length <= mostOffered) return places;
  const every = Math.ceil(places.length / mostOffered);
  const at = places.indexOf(present ?? '');
  return places.filter(
    (_, index) => index % every === 0 || index === places.length - 1 || Math.abs(index - at) <= neighbours,
  );
}

function Table({
  run,
  place,
  members,
}: {
  readonly run: string;
  readonly place: string;
  readonly members: readonly MemberRow[];
}) {
  const holds = filters[query.value.get('where') ?? ''] ?? filters.all!;
  const order = orders[query.value.get('sort') ?? ''] ?? orders.group!;
  const rows = members.filter(holds).sort((a, b) => order(a) - order(b));
  const at = (row: MemberRow) => ({ run, place, group: row.group, label: row.label });
  const chosen = useRow('episode', rows.length, `${place} ${rows.length}`, (index) =>
    go(episodeAddress(at(rows[index]!), rows[index]!.member)),
  );
  return (
    <section class="card flush" aria-label="Episodes">
      <table class="rows episodes" aria-rowcount={rows.length + 1}>
        <TableHead columns={columns} />
        <Rows
          rows={rows}
          chosen={chosen}
          draw={(row, index) => (
            <tr
              key={`${row.label} ${row.group} ${row.member} ${row.role}`}
              class={index === chosen ? 'current' : ''}
              aria-rowindex={index + 2}
            >
              <th scope="row">
                <Link to={episodeAddress(at(row), row.member)} asks={episodeQuery(at(row), row.member)}>
                  <Mark {...row} /> {row.group}/{row.member}
                  {row.label !== 'training' && <span class="ink3"> {row.label}</span>}
                  {row.role > 0 && <span class="ink3"> role {row.role + 1}</span>}
                </Link>
              </th>
              <td class="right">{number(row.return)}</td>
              <td class="right">{count(row.turns)}</td>
              <td class="right">{count(row.tokens)}</td>
              <td class="right">{number(row.surprise, 2)}</td>
              <td class="right">{signed(row.advantage)}</td>
              <td class="right">{duration(row.seconds)}</td>
              <td>{row.stop}</td>
            </tr>
          )}
        />
      </table>
      <p class="empty ink2">{plural(rows.length, 'row')}</p>
    </section>
  );
}
