/** Every recipe that can learn from recorded episodes learns from a file, for an agent without a teacher. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defineAgent, train } from '../src/exports/index.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readBy } from '../src/train/config/run-schema.ts';
import { recipes } from '../src/train/recipes/recipes.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-offline-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const words = ['red', 'green', 'blue'];
const echo = defineAgent<{ readonly word: string }>({
  name: 'echo',
  maxCalls: 3,
  tasks: () => words.map((word) => ({ word })),
  async run({ task, baseURL, apiKey, model }) {
    const messages: object[] = [];
    const said: string[] = [];
    for (const content of [`say ${task.word}`, 'again']) {
      messages.push({ role: 'user', content });
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages }),
      });
      const { choices } = (await response.json()) as {
        choices: readonly { readonly message: { readonly content: string } }[];
      };
      messages.push(choices[0]!.message);
      said.push(choices[0]!.message.content);
    }
    return { reward: said.every((one) => one === task.word) ? 1 : 0 };
  },
});

/** Two turns each, of which one answer is right. */
const rows = words.flatMap((word, group) =>
  words.map((said, member) => ({
    v: 1,
    messages: [
      { role: 'user', content: `say ${word}` },
      { role: 'assistant', content: said },
      { role: 'user', content: 'again' },
      { role: 'assistant', content: said },
    ],
    task: { word },
    reward: said === word ? 1 : 0,
    success: said === word,
    source: {
      kind: 'eval',
      environment: 'echo',
      split: 'train',
      episode: { step: 0, task: group, group, member },
    },
  })),
);
const pairs = words.map((word) => ({
  v: 1,
  messages: [{ role: 'user', content: `say ${word}` }],
  chosen: [{ role: 'assistant', content: word }],
  rejected: [{ role: 'assistant', content: words.find((other) => other !== word) }],
  source: { kind: 'file' },
}));
const file = (name: string, lines: readonly object[]): string => {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
};

const settings = {
  seed: 3,
  threads: 1,
  steps: 2,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { steps: 20, batch: 4 },
  rollout: { tasks: 3, group: 3 },
  evaluation: { every: 0, finalTasks: 3 },
};

async function learn(recipe: (typeof recipes)[number], name: string, data: string) {
  const runs = join(folder, 'runs');
  await train({
    world: echo,
    recipe: recipe.name,
    name,
    runs,
    settings: readBy(recipe, { ...settings, data }),
  });
  return readEvents(join(runs, name, 'events.jsonl'));
}

const family = recipes.filter(
  ({ learnsFrom = 'played', needs }) => learnsFrom !== 'played' && needs?.teacher === undefined,
);

test('the family has its members', () => {
  const names = family.map(({ name }) => name);
  for (const name of ['sft', 'sft-rl', 'dpo', 'kto', 'filtered-bc', 'awr', 'ilql'])
    expect(names).toContain(name);
});

test.each(family.map((recipe) => [recipe.name, recipe] as const))(
  '%s learns from a file',
  {
    timeout: 120_000,
  },
  async (name, recipe) => {
    const events = await learn(recipe, name, file(`${name}.jsonl`, rows));
    const data = events.find((event) => event.type === 'data');
    expect(data).toMatchObject({ episodes: 9, successful: 3, cut: 0, leftOut: {} });
    const steps = events.flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
    expect(steps).toHaveLength(2);
    // Methods with a critic train that alone at first.
    const learned = (metrics: Readonly<Record<string, number>>): number =>
      (metrics['tokens/trained'] ?? 0) + (metrics['critic/gradient_norm'] ?? 0);
    for (const metrics of steps) expect(learned(metrics)).toBeGreaterThan(0);
  },
);

test.each(['dpo', 'kto'])('%s learns from pairs', { timeout: 120_000 }, async (name) => {
  const recipe = recipes.find((one) => one.name === name)!;
  const events = await learn(recipe, `${name}-pairs`, file('pairs.jsonl', pairs));
  expect(events.find((event) => event.type === 'data')).toMatchObject({ episodes: 6, successful: 3 });
  for (const event of events)
    if (event.type === 'step') expect(event.metrics['tokens/trained']).toBeGreaterThan(0);
});
