/** `turnwise env check`: a report on an environment, with the fault and a counterexample where a check fails. */

import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { applySettings } from '../../run/settings/settings.ts';
import { type Console, painter, wrap } from '../../show/console.ts';
import {
  type CheckOptions,
  type CheckReport,
  checkEnvironment,
  checkNames,
} from '../../testing/check/check-environment.ts';
import type { Invocation } from '../command.ts';

export interface CheckFlags {
  readonly set: readonly string[];
  readonly episodes: number | undefined;
  readonly slowest: number;
  readonly skip: readonly string[];
  readonly json: boolean;
}

/** @throws TurnwiseError `law-broken` where a check fails, after the report; `config-invalid` for a check that there is not */
export async function checkAndShow(
  factory: WorldFactory,
  flags: CheckFlags,
  { console, interrupts }: Pick<Invocation<unknown>, 'console' | 'interrupts'>,
): Promise<void> {
  const unknown = flags.skip.find((name) => !checkNames.includes(name));
  if (unknown !== undefined)
    throw new TurnwiseError('config-invalid', {
      what: `There is no check "${unknown}"`,
      allowed: checkNames.join(', '),
      next: 'Name one of them with --skip.',
    });
  const settings = applySettings(factory.options, {}, flags.set, factory.name);
  const options = parseStrict(
    factory.options as z.ZodType<JsonObject>,
    settings,
    `Environment "${factory.name}"`,
  );
  // Rules may take long, or for ever, without giving way; a pure world leaves nothing running.
  if (factory.create(options).pure) interrupts.release();
  const report = await checkEnvironment(factory, {
    options,
    ...(flags.episodes !== undefined && { episodes: flags.episodes }),
    slowestMs: flags.slowest,
    skip: flags.skip,
    ...(!flags.json && shownBy(console, factory.name)),
  });
  console.write(flags.json ? `${JSON.stringify(report)}\n` : faultsOf(report, console));
  if (report.passes) return;
  const failed = report.checks.filter(({ findings }) => findings.length > 0).map(({ check }) => check);
  throw new TurnwiseError('law-broken', {
    what: `"${report.environment}" fails ${failed.length} of ${report.checks.length} checks`,
    seen: failed.join(', '),
    next: 'The report says what to do; leave a check out with --skip NAME.',
    fields: { environment: report.environment },
  });
}

/** A line a check when it has ended, and before that, to whoever watches, the name of the one that runs. */
function shownBy(console: Console, environment: string): Pick<CheckOptions, 'begins' | 'ends'> {
  const paint = painter(console.colour);
  const width = Math.max(...checkNames.map((name) => name.length));
  const line = (mark: string, text: string): void => console.write(`  ${mark}  ${text}\n`);
  console.write(`${paint('bold', environment)}\n`);
  return {
    begins: (check) => {
      if (console.interactive) line(paint('dim', '…'), check);
    },
    ends: ({ check, seen, findings }) => {
      if (console.interactive) console.erase(1);
      const mark = findings.length === 0 ? paint('green', '✓') : paint('red', '✗');
      line(mark, `${check.padEnd(width)}  ${paint('dim', seen)}`);
    },
  };
}

/** Each fault with what shows it and what to do, or what comes next. */
function faultsOf({ checks, passes }: CheckReport, console: Console): string {
  const paint = painter(console.colour);
  const faults = checks.flatMap(({ check, findings }) =>
    findings.flatMap(({ fault, counterexample, next }) => [
      '',
      ...wrap(`${check}: ${fault}`, console.columns),
      ...wrap(`shown by ${JSON.stringify(counterexample)}`, console.columns - 2).map(
        (line) => `  ${paint('dim', line)}`,
      ),
      ...wrap(next, console.columns - 2).map((line) => `  ${line}`),
    ]),
  );
  return [...faults, ...(passes ? ['', `${paint('dim', 'Next:')} turnwise train`] : []), ''].join('\n');
}
