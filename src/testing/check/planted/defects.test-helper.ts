/** Faults that authors plant without meaning to, each the healthy environment but for one thing. */

import type { Environment, Step } from '../../../env/environment.ts';
import { healthy, type Walk } from './healthy.test-helper.ts';

type Planted = Environment<number, Walk>;
type Rules = Partial<Planted>;

export interface Defect {
  /** The check that has to find it. */
  readonly check: string;
  /** Part of the fault as it is told. */
  readonly fault: RegExp;
  /** Fewer where it is slow. */
  readonly episodes?: number;
  plant(): Rules;
}

/** The healthy step, changed. */
const stepped = (change: (step: Step<Walk>, before: Walk, action: string) => Step<Walk>): Rules => ({
  step: (state, action, rng) => change(healthy.step(state, action, rng), state, action),
});

const reading = (number: () => number): Rules =>
  stepped((step) => ({ ...step, state: { ...step.state, seen: number() } as Walk }));

const places = (train: readonly number[], validation: readonly number[], test: readonly number[]): Rules => ({
  tasks: (split) => {
    const own = { train, validation, test }[split];
    return { size: own.length, at: (index) => own[index]! };
  },
});

export const defects: Readonly<Record<string, Defect>> = {
  'impure step': {
    check: 'laws',
    fault: /another state|another way|two transcripts/,
    plant: () => {
      let calls = 0;
      return reading(() => ++calls);
    },
  },
  'mutated input state': {
    check: 'laws',
    fault: /read only property/,
    plant: () => ({
      step: (state, action, rng) => {
        (state as { left: number }).left -= action === 'left' ? -1 : 1;
        return healthy.step(state, action, rng);
      },
    }),
  },
  'clock in state': {
    check: 'laws',
    fault: /two transcripts, first different at/,
    plant: () => reading(() => Math.floor(Date.now() / 60_000)),
  },
  'Math.random in step': {
    check: 'laws',
    fault: /another state|two transcripts/,
    plant: () => reading(Math.random),
  },
  'state that is no JSON': {
    check: 'laws',
    fault: /not plain JSON/,
    plant: () =>
      stepped((step) => ({ ...step, state: { ...step.state, at: new Date(0) } as unknown as Walk })),
  },
  'reward that differs on replay': {
    check: 'laws',
    fault: /another way|two transcripts/,
    plant: () => {
      let calls = 0;
      return stepped((step) => ({ ...step, reward: step.reward / (1 + (calls++ % 5)) }));
    },
  },
  'reward outside its range': {
    check: 'rewards',
    fault: /a return of 2 is outside 0 to 1/,
    plant: () => stepped((step) => ({ ...step, reward: 2 * step.reward })),
  },
  'leaking test tasks': {
    check: 'tasks',
    fault: /a test task is a train task too/,
    plant: () => places([-3, -2, 2, 3], [4], [5, 3]),
  },
  'tasks not disjoint': {
    check: 'tasks',
    fault: /a test task is a validation task too/,
    plant: () => places([-3, -2, 2, 3], [4, 6], [5, 6]),
  },
  'tasks that depend on call order': {
    check: 'tasks',
    fault: /asked in another order/,
    plant: () => {
      let calls = 0;
      return {
        tasks: (split) => ({
          size: 9,
          at: () => (++calls % 8) + { train: 1, validation: 11, test: 21 }[split],
        }),
      };
    },
  },
  'unreachable goal': {
    check: 'solvable',
    fault: /nobody ever succeeded/,
    plant: () => stepped((step) => ({ ...step, done: false, success: false, reward: step.done ? 1 : 0 })),
  },
  'a task that nobody can solve': {
    check: 'solvable',
    fault: /none of the \d+ states that can be reached/,
    // A wall on the left of the goals on the right.
    plant: () => ({
      step: (state, action, rng) => {
        const step = healthy.step(state, action, rng);
        if (state.left === 1 && step.done)
          return { ...step, state, observation: 'wall', reward: 0, done: false, success: false };
        return { ...step, state: { left: Math.min(9, step.state.left) } };
      },
    }),
  },
  'never-ending episode': {
    check: 'ends',
    fault: /ended by itself/,
    plant: () => stepped((step) => ({ ...step, done: false })),
  },
  'actions() that lists illegal ones': {
    check: 'actions',
    fault: /lists "up", which step\(\) refuses/,
    plant: () => ({ actions: () => ['left', 'right', 'up'] }),
  },
  'expert that fails': {
    check: 'solvable',
    fault: /the expert solves \d+ of \d+ tasks/,
    plant: () => ({ solve: ({ left }) => (left < -6 ? 'left' : 'right') }),
  },
  'expert that breaks the rules': {
    check: 'solvable',
    fault: /the expert's action "jump" is refused/,
    plant: () => ({ solve: () => 'jump' }),
  },
  'truth that is wrong': {
    check: 'truth',
    fault: /does not solve the task/,
    plant: () => ({ truth: () => 'left' }),
  },
  'hackable reward': {
    check: 'hackable',
    fault: /an episode without success earns/,
    plant: () => ({
      ...stepped((step, before) => ({
        ...step,
        reward: step.reward + (Math.abs(step.state.left) < Math.abs(before.left) && !step.done ? 0.4 : 0),
      })),
      returns: [0, 10],
    }),
  },
  'constant player wins': {
    check: 'hackable',
    fault: /constant "right" player/,
    plant: () => places([1, 2, 3], [4], [5]),
  },
  'random player wins': {
    check: 'hackable',
    fault: /the random player/,
    plant: () =>
      stepped((step) => ({ ...step, done: step.valid, success: step.valid, reward: step.valid ? 1 : 0 })),
  },
  'observation that does not change': {
    check: 'observations',
    fault: /the observation never changed/,
    plant: () => ({
      ...stepped((step) => ({ ...step, observation: 'where?' })),
      start: (left) => ({ state: { left }, messages: [{ role: 'user', content: 'where?' }] }),
    }),
  },
  'wording missing': {
    check: 'wordings',
    fault: /it has one wording/,
    plant: () => ({ natural: undefined as never }),
  },
  'wording that cannot be said': {
    check: 'wordings',
    fault: /it threw/,
    plant: () => ({
      natural: { ...healthy.natural!, observe: (_, step) => (step as Step<Walk>).observation },
    }),
  },
  'nonsense that counts': {
    check: 'laws',
    fault: /was taken for an action/,
    plant: () => stepped((step) => ({ ...step, valid: true })),
  },
  'rewards without variance': {
    check: 'variance',
    fault: /earned the same/,
    plant: () => stepped((step) => ({ ...step, reward: 0 })),
  },
  'fact that is not declared': {
    check: 'facts',
    fault: /tells the fact "effectiveActions", which is not declared/,
    plant: () => ({ facts: [] }),
  },
  'slow step': {
    check: 'speed',
    fault: /take more than/,
    episodes: 1,
    plant: () =>
      stepped((step) => {
        for (const from = performance.now(); performance.now() - from < 7; );
        return step;
      }),
  },
};
