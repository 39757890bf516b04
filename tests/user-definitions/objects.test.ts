/** The same as objects of a program, in place of files. */

import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defineCreditMethod, defineShaping, z } from '../../src/exports/credit.ts';
import { multiply, negate, sum } from '../../src/exports/graph.ts';
import { defineContext, type RunSettings, resume, train } from '../../src/exports/index.ts';
import { defineObjective } from '../../src/exports/objective.ts';
import { command, configOf, removeProject, root, stopped, tiny } from './definitions.test-helper.ts';

afterAll(removeProject);

const halves = defineCreditMethod(
  { name: 'halves', summary: 'half of the outcome' },
  z.strictObject({ share: z.number().default(0.5).describe('What share of the outcome') }),
  ({ share }) =>
    (trajectories, state) => ({
      credits: trajectories.map(({ id, outcome, turns }) => ({
        id,
        turnAdvantages_K: turns.map(() => share * outcome),
      })),
      state,
    }),
);
const same = defineShaping({ name: 'same', summary: 'nothing' }, z.strictObject({}), () => (all, state) => ({
  trajectories: all,
  state,
}));
const plain = defineObjective(
  { name: 'plain', summary: 'log-likelihood times advantage' },
  z.strictObject({}),
  () => ({
    channels: ['advantages'],
    needs: {},
    build: ({ weight, logprobs, channel }) => ({
      loss: negate(sum(multiply(weight, multiply(channel('advantages'), logprobs)))),
      metrics: {},
    }),
  }),
);
const last = defineContext({
  name: 'last',
  summary: 'the latest turn',
  options: z.strictObject({}),
  start: () => null,
  window: ({ fresh, state }) => ({ conversation: { parts: fresh }, state }),
});
const settings: RunSettings = {
  ...tiny,
  credit: { method: halves, share: 0.75, shape: new Map([[same, {}]]) },
  objective: { name: plain },
  context: last,
};

test('train takes definitions in place of names; the command line says why it cannot go on, and resume can', async () => {
  await stopped('code', settings);
  expect(configOf('code').config).toMatchObject({
    context: { name: 'code:last', trained: true },
    credit: { method: 'code:halves', share: 0.75, shape: { 'code:same': {} } },
    objective: { name: 'code:plain' },
  });
  const { code, errors } = await command('resume', 'code', '--runs', root);
  expect(code).toBe(2);
  expect(errors).toContain(
    `Run "code" was trained with the context "last", an object made in code, which cannot be loaded from here. Go on in that program with resume('code', { definitions: [...] }), or define it in a file.`,
  );
  const run = await resume('code', { runs: root, definitions: [halves, same, plain, last] });
  expect((await run.finished).steps).toBe(2);
  expect((await run.evaluate({ tasks: 2 })).sampled.episodes).toBe(2);
});

test('a run whose method only a program has is evaluated by the command line, and its credit is not computed', async () => {
  await stopped('method', { ...tiny, credit: { method: halves } });
  expect(await command('eval', 'method', '--runs', root, '--tasks', '4')).toMatchObject({
    code: 0,
    errors: '',
  });
  const shard = join(root, 'method', 'rollouts', '1.jsonl.gz');
  expect((await command('credit', '--rollouts', shard)).errors).toContain('(definition-in-code)');
  expect(await command('credit', '--rollouts', shard, '--method', 'grpo')).toMatchObject({ code: 0 });
});

test('an object of another kind is refused', async () => {
  const wrong = { ...tiny, credit: { method: same as never } };
  await expect(train({ world: 'frozen-lake', runs: root, settings: wrong })).rejects.toThrow(
    '"credit.method" is not a credit method. Seen: a reward shaping. Allowed: a name, a file, or what defineCreditMethod returns.',
  );
});
