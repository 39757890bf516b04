import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mix } from '../../env/mix/mix.ts';
import { createWorld, environmentNames, findEnvironment } from './environments.ts';
import { resolveWorld } from './resolve-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-mix-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

writeFileSync(
  join(folder, 'worlds.mjs'),
  `
const echo = (name) => ({
  name,
  description: '',
  maxTurns: 1,
  tasks: () => ({ size: 1, at: () => 'a' }),
  start: (state) => ({ state, messages: [] }),
  step: (state) => ({ state, observation: '', reward: 0, done: true, valid: true }),
});
export const one = echo('one');
export const two = echo('two');
export const both = { kind: 'mix', entries: [{ world: './worlds.mjs#one', weight: 2 }, { world: 'maze', weight: 1 }] };
`,
);
const place = (name: string): string => `${join(folder, 'worlds.mjs')}#${name}`;

test('a mix is named in a command, with files that are found from any folder', async () => {
  const factory = await findEnvironment(`mix:maze=3, ${place('one')},wordle=0.5`);
  expect(factory).toMatchObject({
    name: 'maze+one+wordle',
    source: `mix:maze=3,${place('one')}=1,wordle=0.5`,
  });
  expect((await findEnvironment(factory.source!)).source).toBe(factory.source);
});

test('the options of its worlds are its own', async () => {
  const factory = await findEnvironment('mix:maze=3,wordle=1');
  const world = createWorld(factory, ['wordle.words=4', 'maze.maxTurns=3']);
  expect(world.maxTurns).toBe(6);
  expect(() => createWorld(factory, ['wordle.word=4'])).toThrow('Did you mean "wordle.words"?');
});

test('a file exports one, and a program makes one', async () => {
  const exported = await findEnvironment(place('both'));
  expect(exported).toMatchObject({ name: 'one+maze', source: place('both') });
  const two = await findEnvironment(place('two'));
  const made = await resolveWorld(mix({ maze: 1, mine: { world: two, weight: 2 } }, { name: 'made' }));
  expect(createWorld(made, []).name).toBe('made');
  expect(made.source).toBeUndefined();
});

test('what is no mix is refused', async () => {
  const failure = async (name: string): Promise<string> =>
    findEnvironment(name).then(
      () => 'none',
      (error: Error) => error.message.split('. Write it')[0]!,
    );
  expect([
    await failure('mix:'),
    await failure('mix:maze=x'),
    await failure('mix:maze,maze'),
    await failure('mix:mase=1'),
  ]).toEqual([
    'A mix names no world. Seen: mix:. Allowed: worlds with commas between',
    'A world of a mix has no usable weight: maze. Seen: NaN. Allowed: a number above 0',
    'A mix names a world twice. Seen: maze. Allowed: each world once, with its weight',
    `There is no environment "mase". Allowed: ${environmentNames.join(', ')}. Did you mean "maze"?`,
  ]);
});
