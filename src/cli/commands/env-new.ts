/** `turnwise env new`: the files of an environment that runs, to be changed into another one. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { Console } from '../../show/console.ts';

/** @throws TurnwiseError `config-invalid` for a name that is none, `file-exists` where a file is there */
export function writeEnvironment(name: string, folder: string, console: Console): void {
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new TurnwiseError('config-invalid', {
      what: 'The name of an environment is made of lower-case letters, digits and hyphens',
      seen: JSON.stringify(name),
      next: 'Choose one such as treasure-hunt.',
    });
  const files: Readonly<Record<string, string>> = {
    [`${name}.ts`]: source(name),
    [`${name}.test.ts`]: tests(name),
  };
  const present = Object.keys(files).find((file) => existsSync(join(folder, file)));
  if (present !== undefined)
    throw new TurnwiseError('file-exists', {
      what: `${present} is there already`,
      seen: join(folder, present),
      next: 'Choose another name or --folder.',
    });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  const path = `./${join(folder, `${name}.ts`)}`;
  const lines = [`play ${path}`, `env check ${path}`, `train ${path}`].map((line) => `  turnwise ${line}`);
  console.write(`${Object.keys(files).join(' and ')} are written. Next:\n${lines.join('\n')}\n`);
}

const identifier = (name: string): string =>
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

function source(name: string): string {
  return `import { defineEnvironment, user } from 'turnwise';

const moves: Record<string, number> = { left: -1, right: 1 };

export const ${identifier(name)} = defineEnvironment({
  name: '${name}',
  description: 'Find a treasure in the dark, told only "warmer" or "colder".',
  maxTurns: 20,
  // Least and most that an episode can earn.
  returns: [0, 1],
  // Task and state are one number: how many steps the treasure lies to the right.
  tasks: [-8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8],
  start: (place: number) => ({ state: place, messages: [user('start')] }),
  step: (place, action) => {
    const state = place - (moves[action] ?? 0);
    const found = state === 0;
    const valid = action in moves;
    const nearer = Math.abs(state) < Math.abs(place);
    const observation = found ? 'found' : !valid ? 'invalid' : nearer ? 'warmer' : 'colder';
    return { state, observation, reward: found ? 1 : 0, done: found, success: found, valid };
  },
  // For random players, and for models that choose among actions.
  actions: () => ['left', 'right'],
  // The expert: makes the demonstrations that a small model imitates first.
  solve: (place) => (place < 0 ? 'left' : 'right'),
  // Words for pretrained models.
  natural: {
    instructions: 'Find a treasure in the dark. Answer with left or right and nothing else.',
    example: [
      ['You are at the start. Which way?', 'left'],
      ['You are further away. Which way?', 'right'],
    ],
    observe: (_place, step) => {
      if (step === undefined) return 'You are at the start. Which way?';
      if (step.done) return 'You have found the treasure.';
      if (!step.valid) return 'That is no way. Left or right?';
      return \`You are \${step.observation === 'warmer' ? 'nearer' : 'further away'}. Which way?\`;
    },
  },
});
`;
}

function tests(name: string): string {
  return `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkEnvironment, mockPolicy, playEpisode } from 'turnwise/testing';
import { ${identifier(name)} } from './${name}.ts';

test('nothing is wrong with ${name}', async () => {
  const { checks } = await checkEnvironment(${identifier(name)});
  assert.deepEqual(checks.flatMap(({ findings }) => findings), []);
});

test('a wrong word costs a turn', async () => {
  const policy = mockPolicy(['right', 'jump', 'right']);
  const { success, transitions } = await playEpisode(${identifier(name)}, policy, { task: 2 });
  assert.equal(success.agent, true);
  assert.deepEqual(transitions.map(({ valid }) => valid), [true, false, true]);
});
`;
}
