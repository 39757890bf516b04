import type { ErrorTable } from './error-table.ts';

export const environments = {
  'base-invalid': {
    meaning: 'Data under states is not JSON, a path leads nowhere in it, or a state stands on other data.',
    remedy: 'The message names the path or both hashes.',
  },
  'environment-reply': {
    meaning:
      'A call of a world, a session or its action protocol returned something that its contract does not allow.',
    remedy: 'The message names the call and what is allowed.',
  },
  'episode-over': {
    meaning: 'A session was stepped after its end.',
    remedy: 'Open a new one, or one from a snapshot of before the end.',
  },
  'law-broken': {
    meaning: 'A law of environments does not hold (`turnwise/testing`).',
    remedy: 'The message has the options, task and seed that show it.',
  },
  'mix-invalid': {
    meaning:
      'A mix has no worlds, a weight that is no positive number, two worlds of one name, different roles, or an agent.',
    remedy: 'The message names it.',
    exit: 2,
  },
  'no-demonstrations': {
    meaning: 'Every scripted episode failed, timed out or had no turns.',
    remedy: 'The message names the commonest failure.',
  },
  'no-script': {
    meaning: 'The environment lacks the scripted player that the run needs.',
    remedy:
      'Give it `solve` (and `actions`), name a `--model`, or `environment.demonstrations` of a remote one.',
  },
  'no-such-task': {
    meaning: 'No task fits the options of the environment.',
    remedy: 'Change the options as the message says.',
  },
  'observation-not-text': {
    meaning: 'An observation is not a string.',
    remedy: 'Return text.',
  },
  'observation-too-long': {
    meaning: 'An observation is longer than any model could read.',
    remedy: 'Shorten or summarise it.',
  },
  'replay-differs': {
    meaning:
      'A pure environment went another way with the same task, chance and actions, so an episode could not go on from a place.',
    remedy:
      'Take clocks, files and variables outside the state out of `step`, or leave `pure` out of the world.',
  },
  'reward-not-finite': {
    meaning: 'A reward is not a finite number.',
    remedy: 'Look for a division by zero in `step`.',
  },
  'reward-too-large': {
    meaning: 'A reward is so large that sums of it overflow.',
    remedy: 'Scale the rewards down.',
  },
  'snapshot-invalid': {
    meaning: '`world.reopen` was given something that is no snapshot of its sessions.',
    remedy: 'Pass what `toJson()` of a snapshot of the same environment returned, unchanged.',
  },
  'split-empty': {
    meaning: 'A split that is needed has no tasks.',
    remedy: 'Give it at least one.',
    exit: 2,
  },
  'state-not-json': {
    meaning: 'A state holds something that JSON cannot (a function, a class instance, `NaN`).',
    remedy: 'Keep only plain data in the state.',
  },
  'task-file-invalid': {
    meaning:
      'A file of tasks has an unknown ending, an unreadable line or no tasks, or changed while it was used.',
    remedy: 'Correct the line that the message names.',
    exit: 2,
  },
  'task-file-unknown': {
    meaning: 'A file of tasks does not exist or cannot be opened.',
    remedy: 'Paths start from the file that defines the environment.',
    exit: 2,
  },
  'tasks-invalid': {
    meaning:
      'The tasks of an environment are neither a list, a set, a file nor a function of the split, or one of them cannot be read.',
    remedy: 'See [write an environment](write-an-environment.md#tasks).',
  },
  'tools-failed': {
    meaning: 'A tool or `score` of an environment of tools threw an error, or returned something wrong.',
    remedy: 'The message names it; only its episode ended.',
  },
  'tools-invalid': {
    meaning: '`defineTools` was given a name, a turn limit or tools that cannot be used.',
    remedy: 'The message names the part.',
  },
  'unknown-role': {
    meaning: 'A game rewarded a role that it does not have.',
    remedy: 'Reward only the roles that it lists.',
  },
  'word-list-invalid': {
    meaning: 'The word list of `wordle` holds something else than five-letter words.',
    remedy: 'Correct the file.',
  },
  'word-list-too-short': {
    meaning: 'The word list has fewer words than were asked for.',
    remedy: 'Ask for fewer, or name a longer list.',
  },
  'word-list-unreadable': {
    meaning: 'The word list cannot be read.',
    remedy: 'Check the path.',
  },
} satisfies ErrorTable;
