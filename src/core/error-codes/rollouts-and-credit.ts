import type { ErrorTable } from './error-table.ts';

export const rolloutsAndCredit = {
  'advantage-not-finite': {
    meaning: 'A credit method gave a sampled token an advantage that is not finite.',
    remedy: 'Check the method with `turnwise credit` on the stored rollouts.',
  },
  'credit-branch-cycle': {
    meaning: "A trajectory's `parent` leads back to itself.",
    remedy: 'Correct the parents.',
  },
  'credit-feature-length': {
    meaning: 'Turns of one batch have different numbers of `features`.',
    remedy: 'Give every turn equally many, or none.',
  },
  'credit-method-unnamed': {
    meaning:
      'No method is named, and the file does not say which one a run used; or options are given without a method.',
    remedy: 'Add `--method`.',
  },
  'credit-needs-anchors': {
    meaning: 'The method compares turns in equal states, and a turn does not say its state.',
    remedy: 'Add `turns[].anchor`.',
  },
  'credit-needs-field': {
    meaning: 'The method or shaping needs a field that a trajectory lacks.',
    remedy: 'Add the field that the message names.',
  },
  'credit-needs-partner': {
    meaning: 'The method pays one role for the actions of another, whose trajectory is missing.',
    remedy: 'Add it, with the same `episode`, or the same `groupId` and `id`.',
  },
  'credit-needs-values': {
    meaning: 'The method needs one value for each sampled token.',
    remedy: 'Add `turns[].values`, or use a method without a critic.',
  },
  'credit-not-finite': {
    meaning: 'A reward, value or result is not finite.',
    remedy: 'Look at the trajectory that the message names.',
  },
  'credit-outcome-unclear': {
    meaning:
      'The outcome is not the sum of the turn rewards, and the method needs the rewards of single turns.',
    remedy: 'Give intermediate rewards as `turns[].dense`, or leave the outcome out.',
  },
  'credit-token-count': {
    meaning: '`turns[].tokens` is not a whole number of at least 0.',
    remedy: 'Correct it.',
  },
  'data-invalid': {
    meaning: 'A line of a dataset file is not a row that can be learned from.',
    remedy: 'The message names the line and the field; `turnwise data check FILE` lists every such line.',
  },
  'data-undivided': {
    meaning: 'A division would leave all rows of a dataset on one side.',
    remedy: 'Choose another `--seed` or `--share`; rows of one task alone cannot be divided.',
    exit: 2,
  },
  'episode-too-large': {
    meaning: 'A group takes more than 16 MB compressed, too much for a page.',
    remedy: 'Read it with `zcat`.',
  },
  'episode-unknown': {
    meaning: 'The viewer was asked for an episode, a group or a step that the run has not stored.',
    remedy: 'Open a step that is stored; `--set rolloutLog=1` stores every step.',
  },
  'file-exists': {
    meaning: 'A file to be written exists already.',
    remedy: 'Choose another, or replace it with `--force`.',
    exit: 2,
  },
  'reward-model-unknown': {
    meaning: 'The folder holds no reward model.',
    remedy: 'Train one with `turnwise reward-model`.',
    exit: 2,
  },
  'reward-pairs-missing': {
    meaning: 'The file has no pairs, or too few, from which a reward model could learn.',
    remedy:
      'Give rows of `messages`, `chosen` and `rejected`, or make them with `turnwise data convert --pairs`.',
    exit: 2,
  },
  'rollouts-empty': {
    meaning: 'The file holds no trajectories.',
    remedy: 'Give a JSON array, or one trajectory a line.',
  },
  'rollouts-field': {
    meaning: 'A field of a trajectory is missing, misspelt or of the wrong kind.',
    remedy: 'The message names the place.',
  },
  'rollouts-invalid': {
    meaning: 'Stored episodes cannot be read: their file is damaged, or the index names other bytes.',
    remedy: 'Build the index anew with `turnwise runs reindex NAME`, or take another run.',
  },
  'rollouts-missing': {
    meaning: 'The run or file that `data` names has no training episodes of this environment.',
    remedy: 'Train the run with `rolloutLog` above 0; record training tasks with `--split train`.',
  },
  'rollouts-not-found': {
    meaning: 'There is no such file.',
    remedy: 'Check the path.',
  },
  'rollouts-not-json': {
    meaning: 'A line is not JSON.',
    remedy: 'The message names the line.',
  },
  'rollouts-unreadable': {
    meaning: 'The file exists and cannot be read.',
    remedy: 'Check its permissions.',
  },
  'sink-invalid': {
    meaning: 'A sink has an unknown kind or no usable target, or was named twice.',
    remedy: 'The message lists the forms.',
    exit: 2,
  },
} satisfies ErrorTable;
