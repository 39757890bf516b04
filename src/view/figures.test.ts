/** The six figures of a run: what they are called, and when they warn. */

import { expect, test } from 'vitest';
import { figuresOf } from './figures.ts';
import { type History, noHistory } from './history.ts';
import type { RunOverview } from './shapes.ts';

function figures(latest: RunOverview['latest'], history: Partial<History>) {
  const overview = { latest, history: { ...noHistory, ...history }, failed: {}, episodes: 8, metrics: [] };
  return new Map(figuresOf(overview as unknown as RunOverview).map((figure) => [figure.name, figure]));
}

const message = 'step 3: no update was made, because 100% of groups had equal returns';

test('a recipe that compares no group is not said to learn nothing', () => {
  const teaching = figures({ 'reward/success': 0.5 }, { step: 3 }).get('Groups that teach');
  expect(teaching).toEqual({ name: 'Groups that teach', value: '—', note: 'the recipe compares none' });
});

test('equal returns are no alarm where something was learned, and are one where nothing was', () => {
  const latest = { 'groups/constant_share': 1 };
  const alarm = (step: number) => {
    const warnings = [{ code: 'nothing-learned', message, step: 2, time: 0 }];
    return figures(latest, { step, warnings }).get('Groups that teach')?.alarm;
  };
  expect(figures(latest, { step: 3 }).get('Groups that teach')?.alarm).toBeUndefined();
  expect([alarm(3), alarm(4)]).toEqual([`S${message.slice(1)}.`, undefined]);
});
