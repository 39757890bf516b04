import type { ErrorTable } from './error-table.ts';

export const commandLine = {
  'argument-extra': {
    meaning: 'More arguments than the command takes.',
    remedy: 'Look at `--help` of the command.',
    exit: 2,
  },
  'argument-missing': {
    meaning: 'An argument that the command needs is not there.',
    remedy: 'Add it; the message gives an example.',
    exit: 2,
  },
  'command-unknown': {
    meaning: 'There is no such command or action.',
    remedy: 'Use the one that the message suggests.',
    exit: 2,
  },
  'definition-in-code': {
    meaning:
      'The run was trained with a method, loss or context that a program made, which the command line cannot load.',
    remedy: "Continue in that program with `resume('NAME', { definitions })`.",
    exit: 2,
  },
  'environment-address': {
    meaning: 'The address of a remote environment has an unknown scheme or URL.',
    remedy: 'The message gives an example.',
    exit: 2,
  },
  'environment-not-pure': {
    meaning: '`pureEnvironment` was asked for a game, an agent, a mix or live sessions.',
    remedy: 'Wrap an environment of `defineEnvironment`.',
    exit: 2,
  },
  'environment-unknown': {
    meaning: 'There is no built-in environment, or AgentGym environment, of that name.',
    remedy: 'List them with `turnwise envs`.',
    exit: 2,
  },
  interrupted: {
    meaning: 'The command was stopped by Ctrl-C or a request to terminate.',
    remedy: 'Continue with the command in the message.',
    exit: 130,
  },
  'option-unknown': {
    meaning: 'The command has no such flag.',
    remedy: 'Use the one that the message suggests.',
    exit: 2,
  },
  'option-value': {
    meaning: 'A flag has no value, or one that is not allowed.',
    remedy: 'The message says what is allowed.',
    exit: 2,
  },
  'run-other-environment': {
    meaning: 'The run was trained in another environment than the one named.',
    remedy: 'Name the environment of the run.',
  },
  'setting-syntax': {
    meaning: '`--set` was given something that is not `key=value`.',
    remedy: 'Write `--set key=value`.',
    exit: 2,
  },
  'task-unknown': {
    meaning: 'The task number is beyond the end of its split.',
    remedy: 'Choose a smaller number or another split.',
    exit: 2,
  },
  'world-in-code': {
    meaning: 'The run was trained in an object that a program made, which the command line cannot load.',
    remedy:
      "Continue in that program with `resume('NAME', { world })`; `runs show` and `export` need no world.",
    exit: 2,
  },
} satisfies ErrorTable;
