/** The runs as rows: how each stands, and how it got there. */

import type { EvaluationPoint } from '../../history.ts';
import type { RunRow } from '../../shapes.ts';
import { stateMarks } from '../../state.ts';
import { Sparkline } from '../charts/sparkline.tsx';
import { runPath } from '../data/client.ts';
import { address } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Rows } from '../parts/rows.tsx';
import { type Column, TableHead } from '../parts/table-head.tsx';
import { age, count, duration, share } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

const columns: readonly Column[] = [
  ...[{ unseen: 'Drawn above' }, 'Run', 'World', 'Recipe', { right: 'Seed' }],
  ...[{ right: 'Test success' }, 'Curve', { right: 'Steps' }, { right: 's/step' }],
  ...[{ right: 'Warnings' }, { right: 'Age' }],
];

interface RunTableProps {
  readonly rows: readonly RunRow[];
  readonly chosen: number;
  readonly selected: ReadonlySet<string>;
  readonly onToggle: (run: RunRow) => void;
  readonly groupOf: (run: RunRow) => string | undefined;
}

export function RunTable({ rows, chosen, selected, onToggle, groupOf }: RunTableProps) {
  return (
    <table class="rows runs">
      <TableHead columns={columns} />
      <Rows
        rows={rows}
        chosen={chosen}
        draw={(run, index) => {
          const group = groupOf(run);
          const opens = group !== undefined && (index === 0 || groupOf(rows[index - 1]!) !== group);
          return [
            opens && (
              <tr key={`group ${group}`} class="grouping">
                <th scope="rowgroup" colSpan={columns.length}>
                  {oneLine(group)}
                </th>
              </tr>
            ),
            <Row
              key={run.name}
              run={run}
              isCurrent={index === chosen}
              isSelected={selected.has(run.name)}
              onToggle={() => onToggle(run)}
            />,
          ];
        }}
      />
    </table>
  );
}

interface RowProps {
  readonly run: RunRow;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly onToggle: () => void;
}

function Row({ run, isCurrent, isSelected, onToggle }: RowProps) {
  const { name, state, world, recipe, seed, history, secondsPerStep, training, problem } = run;
  const { evaluations, warnings, step, steps, last, began } = history;
  const first = evaluations[0];
  const latest = evaluations.at(-1);
  return (
    <tr class={isCurrent ? 'current' : ''}>
      <td class="choose">
        <input
          type="checkbox"
          checked={isSelected}
          aria-label={`Draw ${oneLine(name)} above`}
          onChange={onToggle}
        />
      </td>
      <th scope="row" class="name">
        <Link to={address('runs', name)} asks={runPath(name)}>
          <span class={`state ${state}`} title={state}>
            <span aria-hidden="true">{stateMarks[state]}</span>
            <span class="unseen">{state}:</span>
          </span>
          {oneLine(name, 60)}
        </Link>
        {problem && <p class="problem">{problem.message}</p>}
      </th>
      <td class="world">{oneLine(world, 40)}</td>
      <td class="recipe">{recipe}</td>
      <td class="right seed">{seed ?? '—'}</td>
      <td class="right score">{problem ? '—' : <Score first={first} latest={latest} />}</td>
      <td class="curve">
        <Sparkline
          tested={evaluations.map((point) => [placeIn(point.step, steps), point.sampled.success])}
          training={training}
        />
      </td>
      <td class="right steps">
        {count(step)}
        {step !== steps && steps > 0 && <span class="ink3"> of {count(steps)}</span>}
      </td>
      <td class="right pace">{secondsPerStep === undefined ? '—' : duration(secondsPerStep)}</td>
      <td class={warnings.length > 0 ? 'right warned' : 'right'}>
        {warnings.length > 0 ? `! ${warnings.length}` : '0'}
      </td>
      <td class="right age">{last || began ? age(last || began) : '—'}</td>
    </tr>
  );
}

const placeIn = (step: number, steps: number): number => (steps === 0 ? 0 : Math.min(1, step / steps));

function Score({
  first,
  latest,
}: {
  readonly first: EvaluationPoint | undefined;
  readonly latest: EvaluationPoint | undefined;
}) {
  if (!latest) return <>—</>;
  const [low, high] = latest.sampled.successInterval;
  return (
    <>
      <b>{share(latest.sampled.success, 3)}</b>{' '}
      <span class="ink3 interval">
        {share(low)}–{share(high)}
      </span>
      {first && first !== latest && <span class="ink3"> from {share(first.sampled.success)}</span>}
    </>
  );
}
