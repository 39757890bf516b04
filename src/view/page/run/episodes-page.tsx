/** Which episodes should I read? Those of a step or an evaluation, by what the index knows of them. */

import { useState } from 'preact/hooks';
import type { MemberRow, RunOverview, StepEpisodes } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { useKeys } from '../navigation/keys.ts';
import { episodeAddress, episodeQuery, placeName } from '../navigation/places.ts';
import { go, query, show } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Mark } from '../parts/members.tsx';
import { Failed, Waiting } from '../parts/states.tsx';
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

const pageSize = 100;

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
        <Choice name="at" label="of" value={place} options={places.map((one) => [one, placeName(one)])} />
        <Choice
          name="where"
          label="which"
          value={query.value.get('where') ?? 'all'}
          options={Object.keys(filters).map((name) => [name, name])}
        />
        <Choice
          name="sort"
          label="by"
          value={query.value.get('sort') ?? 'group'}
          options={Object.keys(orders).map((name) => [name, name])}
        />
      </div>
      {value ? <Table run={run} place={place} members={value.members} /> : <Waiting lines={10} />}
    </>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
}

function Choice({ name, label, value, options }: ChoiceProps) {
  return (
    <label class="field">
      <span class="ink2">{label}</span>
      <select value={value} onChange={({ currentTarget }) => show({ [name]: currentTarget.value })}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
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
  const [chosen, choose] = useState(0);
  const [shown, setShown] = useState(pageSize);
  const holds = filters[query.value.get('where') ?? ''] ?? filters.all!;
  const order = orders[query.value.get('sort') ?? ''] ?? orders.group!;
  const rows = members.filter(holds).sort((a, b) => order(a) - order(b));
  const at = (row: MemberRow) => ({ run, place, group: row.group, label: row.label });
  const move = (to: number) => () => choose(Math.max(0, Math.min(Math.min(shown, rows.length) - 1, to)));
  useKeys([
    { key: 'j', does: 'next episode', act: move(chosen + 1) },
    { key: 'k', does: 'previous episode', act: move(chosen - 1) },
    { key: 'g', does: 'first episode', act: move(0) },
    { key: 'G', does: 'last episode', act: move(rows.length - 1) },
    {
      key: 'Enter',
      does: 'open the episode',
      act: () => rows[chosen] && go(episodeAddress(at(rows[chosen]), rows[chosen].member)),
    },
  ]);
  return (
    <section class="card flush" aria-label="Episodes">
      <table class="rows episodes">
        <thead>
          <tr>
            {['Episode', 'Return', 'Turns', 'Tokens', 'Surprise', 'Advantage', 'Time', 'End'].map(
              (title, index) => (
                <th key={title} scope="col" class={index === 0 || title === 'End' ? '' : 'right'}>
                  {title}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row, index) => (
            <tr
              key={`${row.label} ${row.group} ${row.member} ${row.role}`}
              class={index === chosen ? 'current' : ''}
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
          ))}
        </tbody>
      </table>
      <p class="empty ink2">
        {plural(rows.length, 'row')}
        {rows.length > shown && (
          <>
            {' '}
            <button type="button" onClick={() => setShown(shown + 5 * pageSize)}>
              Show more
            </button>
          </>
        )}
      </p>
    </section>
  );
}
