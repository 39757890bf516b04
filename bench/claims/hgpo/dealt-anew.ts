/** A placebo: HGPO with turns dealt out anew to the states of their group, so that clusters keep their sizes and mean nothing. */

import { placebo } from '../placebo.ts';

export const statesDealt = placebo({
  name: 'states-dealt',
  summary: 'hgpo with random clusters of the same sizes',
  of: 'hgpo',
  field: 'anchor',
});
