/** Every registered objective: names, descriptions, settings and refusals. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import { findObjective, objectives } from './objectives.ts';

test('names are unique and in kebab-case', () => {
  const names = objectives.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
});

test.each(objectives)('$name describes itself and its settings, and has defaults for all', (entry) => {
  const { title, summary, formula, source } = entry.description;
  for (const text of [title, summary, formula, source]) expect(text).not.toBe('');
  const schema = z.toJSONSchema(entry.schema, { io: 'input' }) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
    additionalProperties?: boolean;
  };
  expect(schema.additionalProperties).toBe(false);
  expect(schema.required ?? []).toEqual([]);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    expect(property.description, name).toBeTruthy();
  }
  const objective = entry.create();
  expect(objective.key.startsWith(entry.name)).toBe(true);
  expect(entry.create().key).toBe(objective.key);
  expect(() => entry.create({ unheardOf: 1 })).toThrow(
    `Objective "${entry.name}" has no setting "unheardOf"`,
  );
  for (const name of Object.keys(schema.properties ?? {})) {
    expect(() => entry.create({ [name]: Number.NaN })).toThrow(`Objective "${entry.name}" cannot use`);
  }
});

test('an unknown name is refused with the nearest', () => {
  expect(() => findObjective('ppo_clip')).toThrow('Did you mean "ppo-clip"?');
  expect(findObjective('dpo').create({ beta: 0.5 }).key).toBe('dpo {"beta":0.5,"likelihoodCoefficient":0}');
});
