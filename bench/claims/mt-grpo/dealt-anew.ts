/** A placebo: MT-GRPO with the intermediate rewards of each group dealt out anew to its turns. */

import { placebo } from '../placebo.ts';

export const dealtAnew = placebo({
  name: 'dealt-anew',
  summary: 'mt-grpo with intermediate rewards shuffled over the turns of a group',
  of: 'mt-grpo',
  options: { form: 'multi-turn' },
  field: 'dense',
});
