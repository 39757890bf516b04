/** A credit method, a shaping, a loss, a context and more of a user, a file each, outside the package. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readEvents } from '../../src/store/log-lines.ts';
import { readEpisodeFile } from '../../src/store/rollouts/read-episodes.ts';
import { files } from './definition-sources.test-helper.ts';
import {
  command,
  configOf,
  project,
  refusal,
  removeProject,
  root,
  stopped,
  tiny,
  trainWith,
} from './definitions.test-helper.ts';

afterAll(removeProject);

test('train, resume, eval and credit use what files define', async () => {
  const set = [
    `credit.method=${project.path('centred.ts')}#centred`,
    'credit.centre=0.25',
    `credit.shape={"${project.path('hurry.ts')}":{"cost":0.02}}`,
    `objective.name=${project.path('bounded.ts')}#bounded`,
    'objective.options.bound=1',
    `context=${project.path('opening.ts')}#opening`,
    'context.messages=2',
  ];
  expect(await trainWith('files', ...set)).toMatchObject({ code: 0, errors: '' });
  const { config } = configOf('files');
  expect(config).toMatchObject({
    context: { name: `${project.path('opening.ts')}#opening`, trained: true, messages: 2 },
    credit: {
      method: `${project.path('centred.ts')}#centred`,
      centre: 0.25,
      shape: { [project.path('hurry.ts')]: { cost: 0.02 } },
    },
    objective: { name: `${project.path('bounded.ts')}#bounded`, options: { bound: 1 } },
  });

  const shard = join(root, 'files', 'rollouts', '1.jsonl.gz');
  const asTrained = await command('credit', '--rollouts', shard, '--json');
  const mine = await command(
    ...['credit', '--rollouts', shard, '--json', '--method', `${project.path('centred.ts')}#centred`],
    ...['--shape', project.path('hurry.ts'), '--set', 'centre=0.25', '--set', 'hurry.cost=0.02'],
  );
  const { asTrained: _, ...report } = JSON.parse(asTrained.output) as Record<string, unknown>;
  expect(JSON.parse(mine.output)).toEqual(report);

  expect(await command('eval', 'files', '--runs', root, '--tasks', '4', '--json')).toMatchObject({
    code: 0,
    errors: '',
  });
});

test('tasks, turns and curations of files, with their options, one after another', async () => {
  const over = project.path('over-turns.ts');
  const set = [
    `tasks=${project.path('hard.ts')}`,
    'tasks.most=5',
    `turns=${project.path('short.ts')}#short`,
    'turns.most=2',
    `curation={"${over}":{}}`,
    'curation.varied.share=0.5',
  ];
  expect(await trainWith('played', ...set, 'steps=2')).toMatchObject({ code: 0, errors: '' });
  expect(configOf('played').config).toMatchObject({
    tasks: { name: project.path('hard.ts'), most: 5 },
    turns: { name: `${project.path('short.ts')}#short`, most: 2 },
    curation: { [over]: {}, varied: { share: 0.5 } },
  });
  expect(Object.keys(configOf('played').config.curation!)).toEqual([over, 'varied']);
  const { groups } = readEpisodeFile(join(root, 'played', 'rollouts', '1.jsonl.gz'))!;
  const members = groups.flatMap((group) => group.members);
  expect(groups.map((group) => group.members.length)).toEqual([5, 5, 5, 5]);
  expect(Math.max(...members.map(({ transitions }) => transitions.length))).toBe(2);
  const credits = members.flatMap(({ credit }) => credit?.agent ?? []);
  expect(credits).toHaveLength(10);
  expect(credits.some(({ inLoss }) => !inLoss)).toBe(true);
  expect(await refusal('none', `turns=${project.path('short.ts')}#short`, 'turns.mots=2')).toContain(
    'Did you mean "turns.most"?',
  );
  expect(await refusal('none', 'curation../over-turns.ts={}')).toContain(
    `--set 'curation={"./over-turns.ts":{}}', with the options inside`,
  );
  const { output } = await command(
    ...['train', 'frozen-lake', '--recipe', 'rloo', '--help', '--set', `tasks=${project.path('hard.ts')}`],
  );
  expect(output).toMatch(/tasks\.most=16 +Episodes of a task that nobody solves/);
});

test('a turn control that fails ends its episodes, and then the run says so', async () => {
  const errors = await refusal('broken-turns', `turns=${project.path('short.ts')}#throws`, 'steps=5');
  expect(errors).toContain('failed:policy');
  expect(errors).toContain('out of turns');
});

test('a run goes on with the files that it began with, and says which of them is gone or has changed', async () => {
  const file = project.write('moving.ts', files['centred.ts'].replaceAll("'centred'", "'moving'"));
  await stopped('going', { ...tiny, credit: { method: `${file}#centred`, centre: 0.25 } });
  const again = () => command('resume', 'going', '--runs', root);

  project.write('moving.ts', files['centred.ts'].replaceAll('centre:', 'middle:'));
  expect((await again()).errors).toContain(
    `Credit method "centred" of ${file}#centred has no setting "centre"`,
  );
  project.write('moving.ts', files['hurry.ts']);
  expect((await again()).errors).toMatch(
    /Run "going" was trained with the credit method of .*moving\.ts#centred, which cannot be loaded any more: .* has no export "centred"/,
  );
  rmSync(file);
  expect((await again()).errors).toMatch(/cannot be loaded any more: There is no file .*\(definition-lost\)/);
  // Something that it imports is part of it.
  project.write('half.ts', 'export const half = 0.5;');
  project.write('moving.ts', `import './half.ts';\n${files['centred.ts']}`);
  const changed = (name: string) =>
    readEvents(join(root, name, 'events.jsonl')).flatMap((event) =>
      event.type === 'warning' && event.code === 'code-changed' ? [event.message] : [],
    );
  const line = await again();
  expect(line.code).toBe(0);
  expect(line.output).toContain('has changed');
  expect(changed('going')).toEqual([expect.stringContaining(`${file} has changed since this run began`)]);

  project.write('moving.ts', `import './half.ts';\n${files['centred.ts']}`);
  await stopped('same', { ...tiny, credit: { method: `${file}#centred`, centre: 0.25 } });
  expect((await command('resume', 'same', '--runs', root)).code).toBe(0);
  expect(changed('same')).toEqual([]);
  await stopped('other', { ...tiny, credit: { method: `${file}#centred`, centre: 0.25 } });
  const half = project.write('half.ts', 'export const half = 1 / 2;');
  expect((await command('resume', 'other', '--runs', root)).code).toBe(0);
  expect(changed('other')).toEqual([expect.stringContaining(`${half} has changed since this run began`)]);
});
