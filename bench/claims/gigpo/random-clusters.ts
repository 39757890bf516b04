/** A placebo: GiGPO with turns dealt out anew to the states of their group, so that clusters keep their sizes and mean nothing. */

import { placebo } from '../placebo.ts';

export const randomClusters = placebo({
  name: 'random-clusters',
  summary: 'gigpo with random clusters of the same sizes',
  of: 'gigpo',
  field: 'anchor',
});
