import type { ErrorTable } from './error-table.ts';

export const gamesAndStatistics = {
  'game-not-enumerable': {
    meaning: 'The tree of a game cannot be walked: it is endless, too large, or does not list its actions.',
    remedy: 'Measure it by playing instead.',
  },
  'game-not-zero-sum': {
    meaning: 'The rewards of two players do not cancel, so exploitability is not defined.',
    remedy: 'Measure it by playing instead.',
  },
  'imperfect-recall': {
    meaning: 'One anchor stands for different histories of a role.',
    remedy: 'Make `anchor` tell them apart.',
  },
  'quantile-out-of-range': {
    meaning: 'A quantile was asked for a share outside 0 to 1.',
    remedy: 'Use a share between 0 and 1.',
  },
  'strategy-incomplete': {
    meaning: 'A strategy has no usable weights for an information set.',
    remedy: 'Give weights for every legal action.',
  },
  'too-few-values': {
    meaning: 'A statistic is not defined for so few values.',
    remedy: 'The message says how many it needs.',
  },
} satisfies ErrorTable;
