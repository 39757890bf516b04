import type { ErrorTable } from './error-table.ts';

export const runsOnDisk = {
  'checkpoint-corrupt': {
    meaning:
      'A file of a checkpoint is missing, cut short or changed, or has weights that are not finite or of an unsupported type.',
    remedy: 'Delete that checkpoint folder to go on from the one before; the message names it.',
  },
  'checkpoint-foreign': {
    meaning: 'The folder is no checkpoint of this format, or belongs to another model or vocabulary.',
    remedy: 'Use the version and settings that wrote it.',
  },
  'checkpoint-mismatch': {
    meaning: 'Weights have other names or shapes than the model.',
    remedy: 'Use the model settings that the checkpoint was trained with.',
  },
  'checkpoint-missing': {
    meaning: 'The run has no checkpoint, none of that step, or a weight file is not there.',
    remedy: 'Name a step that exists, or start again.',
  },
  'claim-result': {
    meaning: 'A result is larger than 4 kB, already there, or cannot be read.',
    remedy: 'The message says which; `--seeds` makes a replication.',
  },
  'claim-uncommitted': {
    meaning: 'A claim must be committed, in a tree without changes, before it is run.',
    remedy: 'Commit it. `--plan` needs no commit.',
  },
  'claim-unusable': {
    meaning: 'The file of a claim is missing, not JSON, or makes no sense.',
    remedy: 'The message names the fault; docs/evidence.md has the format.',
  },
  'comparison-differs': {
    meaning: 'A comparison of this name was started with other settings.',
    remedy: 'Choose another `--name`.',
    exit: 2,
  },
  'comparison-incomplete': {
    meaning: 'Some runs of a comparison failed; the table and the report have the others.',
    remedy: 'Run the same command again: only those are repeated.',
  },
  'config-corrupt': {
    meaning: '`config.json` of the run was changed since this version wrote it.',
    remedy: 'Restore the file, or start a new run.',
  },
  'config-version': {
    meaning:
      '`config.json` was written by a version with other settings or another format; runs of format 1 are not read at all.',
    remedy: 'Continue with the version that started the run, or start a new run.',
  },
  'definition-lost': {
    meaning: 'A file that defines a method, loss or context of the run is gone, or no longer exports it.',
    remedy: 'Restore the file; the message names it.',
  },
  'disk-failed': {
    meaning: 'The system refused a write for another reason than space (`fields.errno` has it).',
    remedy: 'Make the folder writable, then resume.',
  },
  'disk-full': {
    meaning:
      'No space, or over quota. The log ends with a whole event and earlier checkpoints are intact. Episodes are written in the background, so the error may surface at the next checkpoint.',
    remedy: 'Free some space, then resume.',
  },
  'events-corrupt': {
    meaning:
      'A whole line of `events.jsonl` is not JSON. An unfinished last line is normal after a crash, and a resumed run skips damaged lines.',
    remedy: 'Restore the file, or resume the run.',
  },
  'everything-fails': {
    meaning:
      'Every episode of several steps in a row failed, so the run stopped before it used up its schedule.',
    remedy: 'Remove the cause that the message names, then continue with `turnwise resume`.',
  },
  'removal-unconfirmed': {
    meaning: '`runs rm` cannot ask, since no person is at the terminal.',
    remedy: 'Add `--yes`.',
    exit: 2,
  },
  'run-busy': {
    meaning: 'Another process writes this run.',
    remedy: 'Wait or stop it; if it no longer exists, delete the lock file that the message names.',
  },
  'run-exists': {
    meaning: 'A run of that name already exists.',
    remedy: 'Resume it, choose another `--name`, or delete the folder.',
    exit: 2,
  },
  'run-finished': {
    meaning: 'The run has done all its steps.',
    remedy: 'Look at it with `turnwise runs show`.',
  },
  'run-name': {
    meaning: 'The name cannot be a folder name.',
    remedy: 'Use letters, digits, `.`, `_` and `-`.',
    exit: 2,
  },
  'run-unknown': {
    meaning: 'There is no run of that name in the folder.',
    remedy: 'Use the nearest one, or list them with `turnwise runs`.',
    exit: 2,
  },
  'start-mismatch': {
    meaning: 'The run that `start` names was made with another environment, model or turn limit.',
    remedy: 'Use its settings, or leave out `start`.',
    exit: 2,
  },
  'start-missing': {
    meaning: 'The run that `start` names no longer has the checkpoint of its warm start.',
    remedy: 'Make one that keeps it with `--set steps=0`.',
    exit: 2,
  },
} satisfies ErrorTable;
