import { expect, test } from 'vitest';
import { z } from 'zod';
import { resolveConfig } from '../config/resolve.ts';
import { readBy } from '../config/run-schema.ts';
import { recipes } from './recipes.ts';

/** Methods that take their baseline from the whole batch, from a critic or from a teacher. */
const compareNoGroups = ['reinforce', 'reinforce++', 'gae', 'turn-gae', 'bi-level-gae', 'teacher-kl'];

test('groups of one are learned from where no group is compared, and dropped where all that is compared are groups', () => {
  const keepsOne = recipes.filter(
    (recipe) =>
      resolveConfig({
        recipe,
        environmentOptions: z.strictObject({}),
        settings: readBy(recipe, { rollout: { group: 1 } }),
      }).rollout.minimumMembers === 1,
  );
  const names = keepsOne.map(({ name }) => name);
  for (const { name, settings } of recipes) {
    const method = settings.credit?.method ?? '';
    if (compareNoGroups.includes(method)) expect(names).toContain(name);
    if (['rloo', 'grpo', 'dr-grpo'].includes(method)) expect(names).not.toContain(name);
  }
});
