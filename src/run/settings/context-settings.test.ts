import { expect, test } from 'vitest';
import { readContext } from './context-settings.ts';

const of = async (set: readonly string[], base?: Parameters<typeof readContext>[2]) => {
  const { strategy, options, trained } = await readContext(set, 'a command', base);
  return { name: strategy.name, options, trained };
};

test('options without a name change the context of the run, and a name begins anew', async () => {
  const base = { name: 'summary', trained: false, threshold: 300 };
  expect(await of([], base)).toMatchObject({
    ...{ name: 'summary', trained: false, options: { threshold: 300, summaries: 8 } },
  });
  expect(await of(['context.summaries=2'], base)).toMatchObject({
    ...{ name: 'summary', trained: false, options: { threshold: 300, summaries: 2 } },
  });
  expect(await of(['context=summary'], base)).toMatchObject({ trained: true, options: { threshold: 1024 } });
  expect(await of([])).toMatchObject({ name: 'full', trained: true });
});
