/** What is said of files of a user: their options in the help, and what is wrong with them. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { command, project, refusal, removeProject, root } from './definitions.test-helper.ts';

afterAll(removeProject);

test('help lists the options of what a file defines', async () => {
  const { output } = await command(
    ...['train', 'frozen-lake', '--recipe', 'rloo', '--help'],
    ...['--set', `credit.method=${project.path('centred.ts')}#centred`],
    ...['--set', `objective.name=${project.path('bounded.ts')}#bounded`],
  );
  expect(output).toMatch(/credit\.centre=0\.5 +What is subtracted/);
  expect(output).toMatch(/objective\.options\.bound=2 +Largest advantage/);
  const credit = await command('credit', '--method', `${project.path('centred.ts')}#centred`, '--help');
  expect(credit.output).toMatch(/centre=0\.5 +What is subtracted/);
});

test('help lists the options of each curation, shaping, turn control and context that is named', async () => {
  const over = project.path('over-turns.ts');
  const help = async (...set: string[]): Promise<string> => {
    const words = set.flatMap((assignment) => ['--set', assignment]);
    const { code, output } = await command('train', 'frozen-lake', '--recipe', 'rloo', '--help', ...words);
    expect(code).toBe(0);
    return output.replaceAll(/\s+/g, ' ');
  };
  expect(await help()).not.toMatch(/curation\.varied|turns\.most|context\.threshold|shape\.ufo/);
  const named = await help(
    ...['curation.varied={}', 'curation.dynamic-sampling.rounds=3', 'credit.shape.ufo={}'],
    ...['tasks=revisit', `turns=${project.path('short.ts')}#short`, 'context=summary'],
  );
  expect(named).toContain('curation.varied.share=0.75 Share of groups that are learned from');
  expect(named).toContain('curation.dynamic-sampling.rounds=');
  expect(named).toContain('curation.* NAME.OPTION=VALUE');
  expect(named).toContain('credit.shape.ufo.lambda=');
  expect(named).toContain('credit.shape.* Reward shapings');
  expect(named).toMatch(/tasks\.share=.* turns\.most=/);
  expect(named).toContain('context.threshold=');
  expect(await help('curation.varied=false')).not.toContain('curation.varied.');
  // The options of a file as they are written, since dots divide keys.
  expect(await help(`curation={"${over}":{}}`)).toContain(
    `curation={"${over}":{"least":1}} Turns that are enough`,
  );
});

test('options of curations and shapings are read as their type', async () => {
  expect(await refusal('none', 'curation.varied.share=much')).toContain(
    '"curation.varied.share" is not allowed',
  );
  expect(await refusal('none', 'curation.varied.shar=0.5')).toContain(
    'Did you mean "curation.varied.share"?',
  );
  expect(await refusal('none', 'credit.shape.ufo.lambda=much')).toContain(
    '"credit.shape.ufo.lambda" is not allowed',
  );
});

test('what a file lacks is said, and what it does not read is refused', async () => {
  const method = `credit.method=${project.path('centred.ts')}`;
  expect(await refusal('none', method)).toMatch(
    /must export one credit method\. Seen: centred, nan, short, throws\./,
  );
  expect(await refusal('none', `credit.method=${project.path('hurry.ts')}`)).toContain(
    'must export one credit method. Seen: none (exports: hurry (a reward shaping)). Allowed: what defineCreditMethod returns.',
  );
  expect(await refusal('none', `${method}#centred`, 'credit.center=1')).toContain(
    'Did you mean "credit.centre"?',
  );
  expect(
    await refusal('none', `objective.name=${project.path('bounded.ts')}#bounded`, 'objective.clipLow=0.1'),
  ).toContain('does not read "objective.clipLow"');
  expect(await refusal('none', 'credit.shape../hurry.ts.cost=1')).toContain(
    `The path of a file cannot be part of a key, since dots divide keys.`,
  );
  expect(existsSync(join(root, 'none'))).toBe(false);
});

test.each([
  ['short', /must return \d+ turnAdvantages_K for trajectory .* Seen: an array of 0.*\(definition-invalid\)/],
  ['nan', /a number that is not finite: an advantage of trajectory .*\(credit-not-finite\)/],
  ['throws', /threw an error\. Seen: out of ideas.*\(definition-failed\)/],
])('a method that is wrong ends the run with its name and file: %s', async (name, message) => {
  const errors = await refusal(`wrong-${name}`, `credit.method=${project.path('centred.ts')}#${name}`);
  expect(errors).toMatch(message);
  expect(errors).toContain(`Credit method "${name}" of ${project.path('centred.ts')}#${name}`);
});

test('a loss without a sum and a context without tokens are told in the same way', async () => {
  expect(
    await refusal(
      'vector',
      `objective.name=${project.path('bounded.ts')}#vector`,
      `credit.method=${project.path('centred.ts')}#centred`,
    ),
  ).toMatch(
    /Objective "vector" of .*bounded\.ts#vector must build one loss\. Seen: \[.*\]\. Allowed: a scalar tensor/,
  );
  expect(await refusal('silent', `context=${project.path('opening.ts')}#silent`)).toMatch(
    /Context "silent" of .*opening\.ts#silent must give a conversation/,
  );
});
