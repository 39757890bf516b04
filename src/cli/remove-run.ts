/** Removing a run: never one that is being written, and never without a yes. */

import { TurnwiseError } from '../core/errors.ts';
import { version } from '../run/version.ts';
import type { Console } from '../show/console.ts';
import { runHistory } from '../show/run-history.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { commandIn } from '../store/runs.ts';
import type { askInput } from './terminal/person-play.ts';

/** @throws TurnwiseError `run-busy`, `removal-unconfirmed`, `disk-failed` */
export async function removeRun(
  { name, events }: RunDirectory,
  { root, yes }: { readonly root: string; readonly yes: boolean },
  console: Console,
  open: () => ReturnType<typeof askInput>,
): Promise<void> {
  if (!yes) {
    if (!console.interactive) throw unconfirmed(name, root);
    const { steps, finish } = runHistory(events.read());
    const state = finish ? 'finished' : 'unfinished';
    const { ask, close } = open();
    try {
      const answer = await ask(
        `Remove ${name} (${steps.at(-1)?.step ?? 0} steps, ${state}) for good? [y/N] `,
      );
      if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
        console.write(`${name} is kept.\n`);
        return;
      }
    } finally {
      close();
    }
  }
  RunDirectory.openForWriting({ root, name, version }).remove();
  console.write(`${name} is removed.\n`);
}

function unconfirmed(name: string, root: string): TurnwiseError {
  return new TurnwiseError('removal-unconfirmed', {
    what: `Nobody can be asked whether to remove "${name}"`,
    next: `Say so with: ${commandIn(root, `runs rm ${name} --yes`)}`,
    fields: { run: name },
  });
}
