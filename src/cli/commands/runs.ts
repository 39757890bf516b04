/** `turnwise runs`: list the runs of a folder, show one, compare two, build the index of one anew, remove one. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import { differences } from '../../core/json/differences.ts';
import { version } from '../../run/version.ts';
import { type Console, painter } from '../../show/console.ts';
import { formatScore, formatSeconds } from '../../show/format.ts';
import { type RunHistory, runHistory } from '../../show/run-history.ts';
import { sparkline } from '../../show/sparkline.ts';
import { table } from '../../show/table.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { commandIn, startedRuns } from '../../store/runs.ts';
import { type Command, defineCommand } from '../command.ts';
import { removeRun } from '../remove-run.ts';
import { comparison } from '../terminal/comparison.ts';
import { askInput } from '../terminal/person-play.ts';
import { runExamples } from '../terminal/run-examples.ts';
import { summaryText } from '../terminal/summary.ts';

const options = z.strictObject({
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  json: z.boolean().default(false).describe('Print JSON'),
  yes: z.boolean().default(false).describe('Remove without asking'),
});

const actions = ['list', 'show', 'compare', 'reindex', 'rm'] as const;

export const runsCommand: Command<typeof options> = defineCommand({
  name: 'runs',
  summary: 'List runs, show one, compare two, rebuild the index of one, or remove one',
  arguments: [
    { name: 'action', description: 'list, show, compare, reindex or rm; default: list', required: false },
    { name: 'run', description: 'Name of a run', required: false },
    { name: 'other', description: 'Name of the run to compare with', required: false },
  ],
  options,
  examples: [
    'turnwise runs',
    'turnwise runs show frozen-lake-rloo-1',
    'turnwise runs compare frozen-lake-rloo-1 frozen-lake-grpo-1',
    'turnwise runs reindex frozen-lake-rloo-1',
    'turnwise runs rm frozen-lake-rloo-1',
  ],
  async run({ arguments: { action = 'list', run, other }, options, console, interrupts }) {
    const { runs: root, json, yes } = options;
    const open = (name: string | undefined): RunDirectory => {
      if (name === undefined) throw missingRun(root, action);
      return RunDirectory.openForReading({ root, name, version });
    };
    switch (action) {
      case 'list':
        return list(root, json, console);
      case 'show':
        return show(open(run), root, json, console);
      case 'compare':
        return compare(open(run), open(other), json, console);
      case 'reindex':
        if (run === undefined) throw missingRun(root, action);
        return reindex(root, run, json, console);
      case 'rm':
        return removeRun(open(run), { root, yes }, console, () => askInput(interrupts.signal));
      default:
        throw unknownAction(action);
    }
  },
});

function list(root: string, json: boolean, console: Console): void {
  const runs = startedRuns(root).map((name) => {
    const directory = RunDirectory.openForReading({ root, name, version });
    return { name, history: runHistory(directory.events.read()) };
  });
  if (json) {
    console.write(`${JSON.stringify(runs.map(({ name, history }) => describe(name, history)))}\n`);
    return;
  }
  if (runs.length === 0) {
    console.write(`No runs in ${root} yet. Start one with: ${commandIn(root, 'train frozen-lake')}\n`);
    return;
  }
  const paint = painter(console.colour);
  const rows = runs.map(({ name, history }) => {
    const { before, evaluations, finish, steps, start } = history;
    const last = evaluations.at(-1);
    return [
      paint('cyan', name),
      start ? String(start.seed) : '–',
      `${steps.at(-1)?.step ?? 0}${finish ? '' : paint('yellow', ' (unfinished)')}`,
      before ? formatScore(before.sampled.success) : '–',
      last && last !== before ? formatScore(last.sampled.success) : '–',
      sparkline(
        evaluations.map(({ sampled }) => sampled.success),
        11,
        [0, 1],
      ),
      formatSeconds(finish?.summary.seconds.total ?? history.seconds),
    ];
  });
  const columns = [
    { title: 'run' },
    { title: 'seed', align: 'right' },
    { title: 'steps', align: 'right' },
    { title: 'before', align: 'right' },
    { title: 'after', align: 'right' },
    { title: 'success' },
    { title: 'time', align: 'right' },
  ] as const;
  console.write(`${table(columns, rows, paint).join('\n')}\n`);
}

async function reindex(root: string, name: string, json: boolean, console: Console): Promise<void> {
  const run = RunDirectory.openForWriting({ root, name, version });
  try {
    const records = run.reindex();
    const steps = run.readRollouts().index.steps();
    console.write(
      json
        ? `${JSON.stringify({ name, records, steps })}\n`
        : `${name}: ${records} index records, ${steps.length} stored steps; metrics rebuilt from the event log\n`,
    );
  } finally {
    await run.close();
  }
}

async function show(run: RunDirectory, root: string, json: boolean, console: Console): Promise<void> {
  const history = runHistory(run.events.read());
  if (json) {
    const { before, evaluations, finish } = history;
    const config = run.readConfig(z.unknown());
    const summary = finish?.summary ?? null;
    console.write(
      `${JSON.stringify({ ...describe(run.name, history), config, before: before ?? null, evaluations, summary })}\n`,
    );
    return;
  }
  const examples = await runExamples(run);
  const curvePath = join(run.path, 'curve.svg');
  const curve = existsSync(curvePath) ? { curvePath } : {};
  console.write(
    summaryText(
      {
        run: run.name,
        world: run.readConfig(z.unknown()).world,
        root,
        history,
        ...curve,
        ...(examples && { examples }),
      },
      console,
    ),
  );
}

function compare(first: RunDirectory, second: RunDirectory, json: boolean, console: Console): void {
  const sides = [first, second].map((run) => ({
    name: run.name,
    history: runHistory(run.events.read()),
    config: run.readConfig(z.unknown()),
  })) as [Side, Side];
  if (json) {
    const [a, b] = sides.map(({ name, history }) => describe(name, history));
    console.write(
      `${JSON.stringify({ runs: [a, b], differences: differences(sides[0].config, sides[1].config) })}\n`,
    );
    return;
  }
  console.write(`${comparison(sides, console).join('\n')}\n`);
}

type Side = Parameters<typeof comparison>[0][0];

function describe(name: string, { start, before, evaluations, finish, steps }: RunHistory): object {
  const last = evaluations.at(-1);
  return {
    name,
    environment: start?.environment ?? null,
    recipe: start?.recipe ?? null,
    seed: start?.seed ?? null,
    steps: steps.at(-1)?.step ?? 0,
    finished: finish !== undefined,
    successBefore: before?.sampled.success ?? null,
    successAfter: last?.sampled.success ?? null,
  };
}

function missingRun(root: string, action: string): TurnwiseError {
  return new TurnwiseError('argument-missing', {
    what: `turnwise runs ${action} needs ${action === 'compare' ? 'two runs' : 'a run'}`,
    next: `List runs with: ${commandIn(root, 'runs')}`,
    fields: { command: 'runs' },
  });
}

function unknownAction(action: string): TurnwiseError {
  const near = nearest(action, actions);
  return new TurnwiseError('command-unknown', {
    what: `turnwise runs has no action "${action}"`,
    allowed: actions.join(', '),
    next: near ? `Did you mean "${near}"?` : 'To show a run: turnwise runs show NAME',
    fields: { command: action },
  });
}
