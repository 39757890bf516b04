/** Judged episodes as rows: the judgement, and what a dataset makes of it. */

import type { Annotation } from '../../annotation.ts';
import type { JudgedRow, JudgementUse } from '../../shapes.ts';
import { taskText } from '../group/task-text.ts';
import { episodeAddress, placeName } from '../navigation/places.ts';
import { go } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Rows, useRow } from '../parts/rows.tsx';
import { type Column, TableHead } from '../parts/table-head.tsx';
import { age, plural } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

interface JudgementTableProps {
  readonly run: string;
  readonly rows: readonly JudgedRow[];
  readonly onWithdraw: (annotation: Annotation) => void;
}

const uses: Readonly<Record<JudgementUse, (rows: number) => string>> = {
  conversation: (rows) => plural(rows, 'conversation'),
  pair: () => 'a pair',
  test: () => 'nothing: a test task',
  note: () => 'nothing: a note alone',
  'no-pair': () => 'nothing: the turn has no answer to compare',
  gone: () => 'nothing: the episode is no longer stored',
};

const columns: readonly Column[] = [
  'Episode',
  'Judgement',
  'Makes',
  { right: 'Age' },
  { unseen: 'Withdraw' },
];

export function JudgementTable({ run, rows, onWithdraw }: JudgementTableProps) {
  const addressOf = ({ annotation: { place, group, member, label, correction } }: JudgedRow): string => {
    const episode = episodeAddress({ run, place, group, label }, member);
    if (correction === undefined) return episode;
    return `${episode}${episode.includes('?') ? '&' : '?'}turn=${correction.turn + 1}`;
  };
  const chosen = useRow('episode', rows.length, run, (index) => go(addressOf(rows[index]!)));
  return (
    <section class="card flush" aria-label="Judged episodes">
      <table class="rows judgements" aria-rowcount={rows.length + 1}>
        <TableHead columns={columns} />
        <Rows
          rows={rows}
          chosen={chosen}
          draw={(row, index) => {
            const { place, group, member, label, at } = row.annotation;
            return (
              <tr
                key={`${place} ${group} ${member} ${label}`}
                class={index === chosen ? 'current' : ''}
                aria-rowindex={index + 2}
              >
                <th scope="row">
                  <Link to={addressOf(row)}>
                    {placeName(place)}, {group}/{member}
                    {label !== 'training' && ` ${label}`}
                  </Link>
                  {row.task !== null && <p class="ink3 small">{taskText(row.task, 60)}</p>}
                </th>
                <td class="said">
                  <Said annotation={row.annotation} />
                </td>
                <td class={row.rows === 0 ? 'makes ink3' : 'makes'}>{uses[row.use](row.rows)}</td>
                <td class="right age">{age(Date.parse(at))}</td>
                <td class="right">
                  <button
                    type="button"
                    class="quiet small"
                    aria-label={`Withdraw the judgement of ${placeName(place)}, ${group}/${member}`}
                    onClick={() => onWithdraw(row.annotation)}
                  >
                    Withdraw
                  </button>
                </td>
              </tr>
            );
          }}
        />
      </table>
    </section>
  );
}

function Said({ annotation: { verdict, correction, note } }: { readonly annotation: Annotation }) {
  return (
    <>
      {verdict && <p class={verdict === 'up' ? 'blue' : 'red'}>{verdict === 'up' ? '▲ good' : '▼ bad'}</p>}
      {correction && (
        <p>
          turn {correction.turn + 1}: <code>{oneLine(correction.action, 80)}</code>
        </p>
      )}
      {note && (
        <p class="ink2" dir="auto">
          {oneLine(note, 240)}
        </p>
      )}
    </>
  );
}
