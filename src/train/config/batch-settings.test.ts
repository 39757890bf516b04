import { expect, test } from 'vitest';
import { world as lake } from '../../../envs/frozen-lake/index.ts';
import { prepareRun } from '../../run/prepare-run.ts';
import { findRecipe } from '../recipes/recipes.ts';
import type { TrainSettings } from './config.ts';
import { readBy } from './run-schema.ts';

function refusal(settings: TrainSettings, recipe = 'grpo'): string {
  try {
    const found = findRecipe(recipe);
    prepareRun(lake, found, readBy(found, settings));
  } catch (error) {
    return (error as Error).message.replace(/ The nearest.*/, '');
  }
  return 'fits';
}

test.each<TrainSettings>([
  { batches: { maxStaleness: 1 } },
  { batches: { parts: 4 } },
  { batches: { parts: 4, order: 'ended' } },
  { batches: { parts: 2, order: 'ended', maxStaleness: 2, extra: 8 } },
  { batches: { maxStaleness: 1 }, rollout: { batching: 'continuous' } },
  { curation: { varied: { share: 0.5 } }, batches: { parts: 2 } },
])('%j fits', (settings) => {
  expect(refusal(settings)).toBe('fits');
});

test('settings that contradict each other are refused, with the reason', () => {
  expect(refusal({ batches: { parts: 9 }, rollout: { tasks: 8 } })).toMatchInlineSnapshot(
    `"A step cannot have more parts than groups. Seen: batches.parts=9, rollout.tasks=8. Set batches.parts to at most 8."`,
  );
  expect(refusal({ batches: { extra: 4 } })).toMatchInlineSnapshot(
    `"A step that learns from its own groups has none to spare. Seen: batches.extra=4, batches.order=asked. Add batches.order=ended, or leave batches.extra out."`,
  );
  expect(refusal({ batches: { extra: 4, order: 'ended' } })).toMatchInlineSnapshot(
    `"Groups beyond those of a step would all be too old for the next, and be played in vain. Seen: batches.extra=4, batches.maxStaleness=0. Set batches.maxStaleness to 1 or more, or leave batches.extra out."`,
  );
  expect(refusal({ batches: { maxStaleness: 1 }, rollout: { batching: 'lockstep' } })).toMatchInlineSnapshot(
    `"In lockstep every live episode waits for the others, so no step can be played ahead, learned in parts, or learned from as groups end. Seen: rollout.batching=lockstep, batches.maxStaleness=1. Leave out one of them."`,
  );
});

test('what looks at whole steps is refused where they are learned in parts', () => {
  const batches = { parts: 2 };
  expect(refusal({ batches }, 'reinforce++')).toMatchInlineSnapshot(
    `"The recipe "reinforce++" cannot be used for frozen-lake: it needs credit that compares within groups and remembers nothing (batches.parts is 2, and credit method "reinforce++" looks at whole steps)."`,
  );
  expect(refusal({ batches }, 'ppo')).toMatchInlineSnapshot(
    `"The recipe "ppo" cannot be used for frozen-lake: it needs credit that compares within groups and remembers nothing (batches.parts is 2, and credit method "gae" looks at whole steps)."`,
  );
  expect(refusal({ batches }, 'spear-sil')).toMatchInlineSnapshot(
    `"The recipe "spear-sil" cannot be used for frozen-lake: it needs all episodes of a step at once (batches.parts is 2)."`,
  );
  expect(refusal({ batches }, 'epo')).toMatchInlineSnapshot(
    `"The recipe "epo" cannot be used for frozen-lake: it needs whole steps, whose entropies it remembers (batches.parts is 2, and objective.entropySmoothing is above 0)."`,
  );
  expect(refusal({ batches, credit: { shape: { 'spear-tool-bonus': {} } } })).toMatchInlineSnapshot(
    `"The recipe "grpo" cannot be used for frozen-lake: it needs credit that compares within groups and remembers nothing (batches.parts is 2, and reward shaping "spear-tool-bonus" looks at whole steps)."`,
  );
  const bonus = (options: object) =>
    refusal({ batches, credit: { shape: { 'exploration-bonus': options } as never } });
  expect([{ scope: 'global' }, { scope: 'product' }, { steps: 9 }].map(bonus).join(' ')).toMatch(
    /("exploration-bonus" looks at whole steps.*){3}/,
  );
  expect(bonus({})).toBe('fits');
  expect(refusal({ batches: { parts: 1 } }, 'spear-sil')).toBe('fits');
});

test('curations that insert are refused where a step is learned in parts', () => {
  expect(refusal({ batches: { parts: 2 }, curation: { 'self-imitation': {} } })).toMatchInlineSnapshot(
    `"The recipe "grpo" cannot be used for frozen-lake: it needs curations that insert nothing (batches.parts is 2, and curation "self-imitation" would bring its episodes into every part)."`,
  );
  const ahead = { maxStaleness: 1, order: 'ended' as const };
  expect(refusal({ batches: ahead, curation: { 'success-replay': {} } })).toBe('fits');
});

test('curations that want further rounds are refused where a step has one', () => {
  expect(
    refusal({ batches: { maxStaleness: 1 }, curation: { 'dynamic-sampling': {} } }),
  ).toMatchInlineSnapshot(
    `"The recipe "grpo" cannot be used for frozen-lake: it needs curations that want one round of episodes, where steps are played ahead or learned in parts (curation "dynamic-sampling" may want more; leave it out, or set batches.maxStaleness=0, batches.parts=1 and batches.order=asked)."`,
  );
  expect(refusal({ curation: { 'dynamic-sampling': {} } })).toBe('fits');
});
