/**
 * A coding agent that is a program, with a teacher so that a small model can begin: `turnwise train examples/agents/coder/agent.ts`.
 * The same program trains without this file: `--command 'node coder.mjs' --tasks tasks.jsonl --check 'node check.mjs'`.
 */

import { defineCommandAgent } from 'turnwise';

interface Task {
  readonly ask: string;
  readonly cases: readonly (readonly [number, number, number])[];
}

const operators: Readonly<Record<string, string>> = { plus: '+', minus: '-', times: '*' };
const forms: Readonly<Record<string, (name: string) => string>> = {
  twice: (name) => `${name} * 2`,
  half: (name) => `${name} / 2`,
  square: (name) => `${name} * ${name}`,
};

export const agent = defineCommandAgent<Task>({
  name: 'coder',
  description:
    'Writes a small function and runs it: a program of its own, in a folder of its own for each episode.',
  command: 'node coder.mjs',
  check: 'node check.mjs',
  tasks: new URL('tasks.jsonl', import.meta.url),
  folder: import.meta.dirname,
  maxCalls: 4,
  demonstrate: ({ task, messages, player, rng }) => {
    const last = messages.findLast(({ role }) => role === 'tool')?.content;
    if (last === 'works') return { content: 'done' };
    const careless = player === 'beginner' && rng.chance(0.5);
    const body = task.ask
      .split(/ (?=plus|minus|times)/)
      .flatMap((part) => {
        const words = part.split(' ');
        const operator = operators[words[0] ?? ''];
        const [form, name = form] = operator === undefined ? words : words.slice(1);
        const written = forms[form ?? '']?.(name ?? '') ?? name ?? '';
        const chosen = careless && operator !== undefined ? rng.pick(Object.values(operators)) : operator;
        return chosen === undefined ? [written] : [chosen, written];
      })
      .join(' ');
    return { toolCalls: [{ name: 'write', arguments: { body } }] };
  },
  settings: {
    steps: 30,
    clone: { demonstrations: 120, beginnerShare: 0.75, steps: 70 },
    rollout: { tasks: 8, group: 8, concurrency: 8 },
    evaluation: { every: 0, finalTasks: 40 },
  },
});
