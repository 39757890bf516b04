import { expect, test } from 'vitest';
import { TurnwiseError } from './errors.ts';
import { createRegistry } from './registry.ts';

const words = {
  noun: 'colour',
  field: 'colour',
  unknown: (parts: ConstructorParameters<typeof TurnwiseError>[1]) =>
    new TurnwiseError('recipe-unknown', parts),
};
const entries = [{ name: 'dark-red', aliases: ['crimson'] }, { name: 'blue' }];

test('an entry is found by its name or alias, and an unknown one names the nearest', () => {
  const strict = createRegistry(words, entries);
  expect(strict.find('crimson').name).toBe('dark-red');
  expect(strict.get('Dark_Red')).toBeUndefined();
  expect(createRegistry({ ...words, lenient: true }, entries).find('Dark_Red').name).toBe('dark-red');
  expect(() => strict.find('bleu')).toThrow(
    'There is no such colour. Seen: "bleu". Allowed: dark-red, blue. Did you mean "blue"?',
  );
});

test('an entry that is added has the name it is added under, in the new registry alone', () => {
  const before = createRegistry(words, entries);
  const after = before.with('/home/me/green.ts', { name: 'green' });
  expect(after.find('/home/me/green.ts').name).toBe('/home/me/green.ts');
  expect(before.get('/home/me/green.ts')).toBeUndefined();
  expect(after.with('blue', { name: 'sky' }).all).toHaveLength(3);
});
