/** What does it still fail at? Test tasks over the evaluations: gained, lost, never, always. */

import type { EvaluationGrid, RunOverview } from '../../shapes.ts';
import { bundleStart } from '../data/bundle.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { useKeys } from '../navigation/keys.ts';
import { address, go, query, show } from '../navigation/router.ts';
import { Choice } from '../parts/choice.tsx';
import { Failed, Waiting } from '../parts/states.tsx';
import { TabPage } from '../run/tab-page.tsx';
import { share } from '../text/format.ts';
import { type Change, type ChangedTask, changedTasks, changes, countChanges, type How } from './changes.ts';
import { Grid } from './grid.tsx';

interface EvaluationsPageProps {
  readonly run: string;
  /** The evaluation that is looked at; the last without one. */
  readonly step: number | undefined;
}

export function EvaluationsPage({ run, step }: EvaluationsPageProps) {
  return (
    <TabPage run={run} tab="evaluations">
      {(overview) => <Evaluations overview={overview} step={step} />}
    </TabPage>
  );
}

function wholeOf(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function Evaluations({
  overview,
  step,
}: {
  readonly overview: RunOverview;
  readonly step: number | undefined;
}) {
  const { name } = overview;
  const asked = [wholeOf(query.value.get('from')), step].flatMap((one) => one ?? []);
  const { value: grid, problem } = useLoaded<EvaluationGrid>(
    runPath(
      name,
      `/evaluations${asked.length === 0 || bundleStart !== undefined ? '' : `?with=${asked.join(',')}`}`,
    ),
    // With a newer evaluation it is asked for again.
    overview.evaluated.at(-1),
  );
  if (problem) return <Failed problem={problem} />;
  if (!grid) return <Waiting lines={10} />;
  if (grid.shown.length === 0) {
    return (
      <p class="ink2">
        No evaluation is stored yet. <code>--set evaluation.every=10</code> evaluates every tenth step.
      </p>
    );
  }
  return <Body overview={overview} grid={grid} step={step} />;
}

interface BodyProps {
  readonly overview: RunOverview;
  readonly grid: EvaluationGrid;
  readonly step: number | undefined;
}

function Body({ overview, grid, step }: BodyProps) {
  const { name } = overview;
  const steps = grid.shown.map((one) => one.step);
  const options = steps.map((one) => [one, `step ${one}`] as const);
  const to = steps.find((one) => one === step) ?? steps.at(-1)!;
  const from = steps.find((one) => String(one) === query.value.get('from')) ?? steps[0]!;
  const isGreedy = grid.shown.some(({ greedy }) => /[01]/.test(greedy));
  const how: How = isGreedy && query.value.get('how') === 'greedy' ? 'greedy' : 'sampled';
  const tasks = changedTasks(grid, how, from, to);
  const counts = countChanges(tasks);
  const isFirst = steps.length === 1;
  const where = changes.find((change) => change === query.value.get('where'));
  const toStep = (next: number | undefined): void => {
    if (next === undefined) return;
    const rest = query.value.toString();
    go(`${address('runs', name, 'evaluations', next)}${rest === '' ? '' : `?${rest}`}`);
  };
  useKeys([
    { key: ']', does: 'next evaluation', act: () => toStep(steps[steps.indexOf(to) + 1]) },
    { key: '[', does: 'previous evaluation', act: () => toStep(steps[steps.indexOf(to) - 1]) },
  ]);
  return (
    <>
      <div class="tools wrap">
        {isGreedy && (
          <div class="segmented" role="group" aria-label="How it played">
            {(['sampled', 'greedy'] as const).map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={one === how}
                onClick={() => show({ how: one === 'sampled' ? undefined : one })}
              >
                {one}
              </button>
            ))}
          </div>
        )}
        {!isFirst && (
          <>
            <Choice label="from" value={from} options={options} onChange={(next) => show({ from: next })} />
            <Choice label="to" value={to} options={options} onChange={(next) => toStep(Number(next))} />
          </>
        )}
      </div>
      <p class="verdict">
        Success {!isFirst && `${share(successOf(tasks, steps.indexOf(from)))} after step ${from}, `}
        <b>{share(successOf(tasks, steps.indexOf(to)))}</b> after step {to}
        {isFirst ? '.' : `: ${counts.gained} gained, ${counts.lost} lost.`}
      </p>
      <div class="tools wrap" role="group" aria-label="Which tasks">
        {changes
          .filter((change) => counts[change] > 0)
          .map((change) => (
            <button
              key={change}
              type="button"
              class={`change ${change === 'not compared' ? '' : change}`}
              aria-pressed={where === change}
              title={isFirst ? undefined : told[change]}
              onClick={() => show({ where: where === change ? undefined : change })}
            >
              {(isFirst && ofOne[change]) || change} {counts[change]}
            </button>
          ))}
      </div>
      <Grid
        overview={overview}
        grid={grid}
        how={how}
        from={from}
        to={to}
        tasks={where === undefined ? tasks : tasks.filter(({ change }) => change === where)}
      />
      {grid.evaluations.length > steps.length && (
        <p class="ink2 small">
          {steps.length} of {grid.evaluations.length} evaluations are shown; the address takes any: from=STEP.
        </p>
      )}
    </>
  );
}

/** What nothing is compared with yet. */
const ofOne: Readonly<Partial<Record<Change, string>>> = { never: 'failed', always: 'succeeded' };

const told: Readonly<Record<Change, string>> = {
  lost: 'Succeeded before, failed after',
  gained: 'Failed before, succeeded after',
  never: 'Failed in both',
  always: 'Succeeded in both',
  'not compared': 'Played in one of the two only',
};

function successOf(tasks: readonly ChangedTask[], column: number): number {
  const played = tasks.map(({ outcomes }) => outcomes[column]).filter((one) => one !== '-');
  return played.filter((one) => one === '1').length / played.length;
}
