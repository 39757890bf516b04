import type { ErrorTable } from './error-table.ts';

export const configuration = {
  'comparison-setting': {
    meaning: 'A comparison was given a setting that it chooses itself: `seed` or `start`.',
    remedy: 'Use `--seeds`, or leave it out.',
    exit: 2,
  },
  'comparison-start': {
    meaning: 'The arms would imitate demonstrations differently, so that they cannot share a warm start.',
    remedy: 'Give all arms the value of the setting that the message names.',
    exit: 2,
  },
  'config-invalid': {
    meaning: 'A setting has a value that is not allowed, or settings do not fit together.',
    remedy: 'The message names the key and what is allowed.',
    exit: 2,
  },
  'config-unknown-key': {
    meaning: 'There is no setting of that name. No setting is ever ignored.',
    remedy: 'Use the nearest key, which the message names.',
    exit: 2,
  },
  'definition-failed': {
    meaning: 'A method, loss or context of yours threw an error.',
    remedy: 'The message names it, its file and the error.',
  },
  'definition-invalid': {
    meaning: 'A method, loss or context of yours returned an unusable result, such as too few advantages.',
    remedy: 'The message names it, its file and the form that fits.',
  },
  'invalid-objective-option': {
    meaning: 'An option of a loss is out of range.',
    remedy: 'The message says the range.',
  },
  'loss-unknown': {
    meaning: 'There is no loss of that name for training services.',
    remedy: 'Use one of those listed.',
  },
  'merge-shapes': {
    meaning: 'Adapters with different names or sizes cannot be merged.',
    remedy: 'Merge adapters of one model.',
  },
  'merge-weights': {
    meaning: 'A mixture does not fit the adapters to be merged.',
    remedy: 'Give one weight for each, with a sum that is not 0.',
  },
  'objective-input': {
    meaning: 'A number that a loss was given for the whole step is not finite or does not fit.',
    remedy: 'The message says which.',
  },
  'objective-lacks': {
    meaning: 'The loss compares sequences or pairs, and the step has none.',
    remedy: 'Pass them with the rows.',
  },
  'place-unknown': {
    meaning:
      'A source of tasks asks for a place at the end of an episode, or in an episode that is not stored.',
    remedy: 'Keep the place in its memory, and ask for one before the end of the episode.',
  },
  'recipe-unfit': {
    meaning: 'The engine or the environment lacks something that the recipe needs.',
    remedy: 'Use the recipe that the message names.',
    exit: 2,
  },
  'recipe-unknown': {
    meaning: 'There is no recipe of that name.',
    remedy: 'Use one of those listed.',
    exit: 2,
  },
  'teacher-missing': {
    meaning:
      'The recipe learns from a teacher that scores tokens, and neither the run nor its recorded episodes have one.',
    remedy: 'Name one with `--set teacher=…`, or let a teacher score the file with `turnwise data score`.',
    exit: 2,
  },
  'teacher-unfit': {
    meaning:
      'The teacher cannot score the tokens of this policy: it has another tokenizer, a shorter context, or does not tell them.',
    remedy: 'Use a teacher with the tokenizer of the policy, such as a larger model of its family.',
    exit: 2,
  },
  'unknown-context': {
    meaning: 'There is no context of that name.',
    remedy: 'Use one of those listed, or a file.',
    exit: 2,
  },
  'unknown-credit-method': {
    meaning: 'There is no credit method of that name.',
    remedy: 'Use one of those listed.',
    exit: 2,
  },
  'unknown-curation': {
    meaning: 'There is no curation of that name.',
    remedy: 'Use one of those listed, or a file.',
    exit: 2,
  },
  'unknown-objective': {
    meaning: 'There is no objective of that name.',
    remedy: 'Use one of those listed.',
    exit: 2,
  },
  'unknown-prompts': {
    meaning: 'There is no source of prompts of that name.',
    remedy: 'Use one of those listed, or a file.',
    exit: 2,
  },
  'unknown-proposer': {
    meaning: 'The setting `prompts.proposer` names nobody who could write prompts.',
    remedy: 'Use openai:URL#MODEL, learner, or a file.',
    exit: 2,
  },
  'unknown-reward-shaping': {
    meaning: 'There is no reward shaping of that name.',
    remedy: 'Use one of those listed.',
    exit: 2,
  },
  'unknown-tasks': {
    meaning: 'There is no source of tasks of that name.',
    remedy: 'Use one of those listed, or a file.',
    exit: 2,
  },
  'unknown-turns': {
    meaning: 'There is no turn control of that name.',
    remedy: 'Use one of those listed, or a file.',
    exit: 2,
  },
} satisfies ErrorTable;
