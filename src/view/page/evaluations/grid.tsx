/** Tasks × evaluations: a square for each, filled where it succeeded. */

import type { ComponentChildren } from 'preact';
import type { EvaluationGrid, RunOverview } from '../../shapes.ts';
import { episodeAddress } from '../navigation/places.ts';
import { go } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Mark } from '../parts/members.tsx';
import { Rows, useRow } from '../parts/rows.tsx';
import { plural } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import type { ChangedTask, How } from './changes.ts';

interface GridProps {
  readonly overview: RunOverview;
  readonly grid: EvaluationGrid;
  readonly how: How;
  readonly from: number;
  readonly to: number;
  readonly tasks: readonly ChangedTask[];
}

export function Grid({ overview, grid, how, from, to, tasks }: GridProps) {
  const { name, evaluated } = overview;
  const steps = grid.shown.map(({ step }) => step);
  const several = new Set(tasks.map(({ role }) => role)).size > 1;
  const episodeOf = ({ group }: ChangedTask, step: number): string | undefined =>
    evaluated.includes(step)
      ? episodeAddress({ run: name, place: `evaluation-${step}`, group, label: how }, 0)
      : undefined;
  const chosen = useRow('task', tasks.length, `${how} ${from} ${to} ${tasks.length}`, (index) => {
    const address = episodeOf(tasks[index]!, to);
    if (address !== undefined) go(address);
  });
  return (
    <section class="card flush" aria-label="Test tasks">
      <div class="scrolls" role="group" aria-label="Tasks by evaluation" tabIndex={0}>
        <table class="rows evaluations" aria-rowcount={tasks.length + 1}>
          <thead>
            <tr>
              <th scope="col">Task</th>
              {steps.length > 1 && <th scope="col">Change</th>}
              {steps.map((step) => (
                <th key={step} scope="col" class={step === from || step === to ? 'compared' : ''}>
                  <span class="unseen">after step </span>
                  {step}
                </th>
              ))}
            </tr>
          </thead>
          <Rows
            rows={tasks}
            chosen={chosen}
            draw={(task, index) => (
              <tr
                key={`${task.task} ${task.role} ${task.group}`}
                class={index === chosen ? 'current' : ''}
                aria-rowindex={index + 2}
              >
                <th scope="row">
                  <Linked to={episodeOf(task, to)}>
                    {oneLine(String(task.task), 16)}
                    {several && <span class="ink3"> {oneLine(task.role, 16)}</span>}
                  </Linked>
                </th>
                {steps.length > 1 && <td class={`change ${task.change}`}>{task.change}</td>}
                {steps.map((step, column) => (
                  <td key={step} class={step === from || step === to ? 'compared' : ''}>
                    <Linked to={task.outcomes[column] === '-' ? undefined : episodeOf(task, step)}>
                      <Cell outcome={task.outcomes[column]!} />
                    </Linked>
                  </td>
                ))}
              </tr>
            )}
          />
        </table>
      </div>
      <p class="empty ink2">{plural(tasks.length, 'task')}</p>
    </section>
  );
}

function Cell({ outcome }: { readonly outcome: string }) {
  return outcome === '-' ? <span class="ink3">—</span> : <Mark member={0} success={outcome === '1'} />;
}

interface LinkedProps {
  readonly to: string | undefined;
  readonly children: ComponentChildren;
}

/** Without a stored episode there is nothing to open. */
function Linked({ to, children }: LinkedProps) {
  return to === undefined ? <span>{children}</span> : <Link to={to}>{children}</Link>;
}
