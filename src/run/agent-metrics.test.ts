/** What a run of an agent tells of its calls: parameters that had no effect, and histories that were rewritten. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defineAgent } from '../env/agent.ts';
import { train } from '../exports/train.ts';
import type { StoredEvent } from '../train/loop/events.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-agent-metrics-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const words: readonly string[] = ['red', 'green'];

/** Asks twice, and the second time puts words into the policy's mouth. */
const echo = defineAgent<string>({
  name: 'echo',
  tasks: () => words,
  run: async ({ task, baseURL, apiKey, model, signal }) => {
    const ask = async (contents: readonly string[]): Promise<string> => {
      const messages = contents.map((content, at) => ({
        role: at % 2 === 0 ? 'user' : 'assistant',
        content,
      }));
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model, messages, verbosity: 'low', max_tokens: 3 }),
        signal,
      });
      const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
      return choices[0]!.message.content;
    };
    await ask([task]);
    const second = await ask([task, 'red green red', task]);
    return { reward: second === task ? 1 : 0 };
  },
  demonstrate: ({ task, rng }) => ({ content: rng.chance(0.5) ? task : rng.pick(words) }),
});

test('each step counts them', async () => {
  const steps: Extract<StoredEvent, { type: 'step' }>[] = [];
  await train({
    world: echo,
    name: 'counted',
    runs: folder,
    settings: {
      steps: 2,
      threads: 1,
      model: { width: 16, layers: 1, heads: 2, hidden: 32 },
      clone: { demonstrations: 8, steps: 2, batch: 4 },
      rollout: { tasks: 2, group: 2 },
      evaluation: { every: 0, tasks: 1, finalTasks: 1 },
    },
    sinks: [
      {
        event: (event) => {
          if (event.type === 'step') steps.push(event);
        },
      },
    ],
  });
  expect(steps).toHaveLength(2);
  const [, second] = steps;
  // Two tasks × two episodes × two calls, of which one begins anew.
  expect(second!.metrics['gateway/ignored/verbosity']).toBe(8);
  expect(second!.metrics['newPath/foreign-words']).toBe(4);
}, 60_000);
