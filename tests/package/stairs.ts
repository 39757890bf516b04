/** A file as a user writes it: an environment whose task and state are interfaces. It is trained for a step by its path. */

import { defineEnvironment } from 'turnwise';

interface Stairs {
  readonly steps: number;
}

interface Climb {
  readonly stairs: Stairs;
  readonly climbed: number;
}

export const stairs = defineEnvironment<Stairs, Climb>({
  name: 'stairs',
  description: 'Climb to the top.',
  maxTurns: 6,
  tasks: () => ({ size: 60, at: (index) => ({ steps: 1 + (index % 3) }) }),
  start: (task) => ({
    state: { stairs: task, climbed: 0 },
    messages: [{ role: 'user', content: `left ${task.steps}` }],
  }),
  step({ stairs: task, climbed: before }, action) {
    const valid = action === 'up' || action === 'wait';
    const climbed = before + (action === 'up' ? 1 : 0);
    const done = climbed === task.steps;
    return {
      state: { stairs: task, climbed },
      observation: done ? '' : `left ${task.steps - climbed}`,
      reward: done ? 1 : 0,
      done,
      success: done,
      valid,
    };
  },
  actions: () => ['up', 'wait'],
  solve: () => 'up',
  stumble: () => 'wait',
});
