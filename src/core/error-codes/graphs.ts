import type { ErrorTable } from './error-table.ts';

export const graphs = {
  'duplicate-input': {
    meaning: 'Two inputs, or an input and an output, of a graph share a name.',
    remedy: 'Rename one.',
  },
  'foreign-tensor': {
    meaning: 'A tensor was used in a graph that it does not belong to.',
    remedy: 'Build one computation from one `Graph`.',
  },
  'not-differentiable': {
    meaning: 'A gradient was asked for through an operator that has none.',
    remedy: 'Wrap the part that needs no gradient in `stopGradient()`.',
  },
  'shape-mismatch': {
    meaning: 'Shapes do not fit the operator.',
    remedy: 'The message shows both.',
  },
  'type-mismatch': {
    meaning: 'Types do not fit the operator.',
    remedy: 'Convert with `cast()`.',
  },
} satisfies ErrorTable;
