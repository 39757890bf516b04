/** The types that authors write: interfaces as tasks and states, and what the compiler refuses. */

import { expect, expectTypeOf, test } from 'vitest';
import { user } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { type Agent, defineAgent } from './agent.ts';
import { defineEnvironment, type Environment } from './environment.ts';
import { fromAgent } from './from-agent.ts';
import { fromEnvironment } from './from-environment.ts';
import { fromGame } from './from-game.ts';
import { defineGame, type Game } from './game.ts';
import { brokenLaw } from './laws/environment-laws.ts';
import { defineSession } from './live/define-session.ts';

interface Task {
  readonly goal: number;
  readonly hint?: string;
}

interface State {
  readonly task: Task;
  readonly visited: readonly number[];
}

const walk = defineEnvironment<Task, State>({
  name: 'walk',
  description: 'Walk to the goal.',
  maxTurns: 8,
  tasks: () => ({ size: 4, at: (index) => ({ goal: index + 1 }) }),
  start: (task) => ({ state: { task, visited: [0] }, messages: [user(`goal ${task.goal}`)] }),
  step({ task, visited }, action) {
    const valid = action === 'on';
    const at = visited.at(-1)! + (valid ? 1 : 0);
    const done = at === task.goal;
    return {
      state: { task, visited: valid ? [...visited, at] : visited },
      observation: done ? '' : `at ${at}`,
      reward: done ? 1 : 0,
      done,
      success: done,
      valid,
    };
  },
  actions: () => ['on'],
  solve: () => 'on',
});

test('an interface is the task and the state of an environment', async () => {
  expectTypeOf(walk).toEqualTypeOf<Environment<Task, State>>();
  expect(await brokenLaw(walk, { goal: 3 }, 1)).toBeUndefined();
  const session = await fromEnvironment(walk).open({ goal: 1 }, Rng.of('test'));
  expect(session.anchor('agent')).toBe('{"task":{"goal":1},"visited":[0]}');
});

test('types are inferred without being written', () => {
  const counted = defineEnvironment({
    name: 'counted',
    description: '',
    maxTurns: 3,
    tasks: () => ({ size: 1, at: (): Task => ({ goal: 1 }) }),
    start: (task): { state: State; messages: [] } => ({ state: { task, visited: [] }, messages: [] }),
    step: (state) => ({ state, observation: '', reward: 0, done: true, valid: true }),
  });
  expectTypeOf(counted).toEqualTypeOf<Environment<Task, State>>();
});

test('an interface is the task and the state of a game, and the task of an agent', () => {
  const game = defineGame<Task, State>({
    name: 'race',
    description: '',
    roles: ['first', 'second'],
    maxTurns: 1,
    tasks: () => ({ size: 1, at: () => ({ goal: 1 }) }),
    start: (task) => ({ task, visited: [] }),
    toMove: () => undefined,
    observe: () => [],
    step: (state) => ({ state, rewards: {}, done: true, valid: true }),
    anchor: () => '',
  });
  expectTypeOf(game).toEqualTypeOf<Game<Task, State>>();
  expect(fromGame(game).name).toBe('race');

  const agent = defineAgent<Task>({
    name: 'walker',
    tasks: () => [{ goal: 1 }],
    run: async ({ task }) => ({ reward: task.goal }),
  });
  expectTypeOf(agent).toEqualTypeOf<Agent<Task>>();
  const inferred = defineAgent({
    name: 'walker',
    tasks: (): readonly Task[] => [{ goal: 1 }],
    run: async ({ task }) => ({ reward: task.goal }),
  });
  expectTypeOf(inferred).toEqualTypeOf<Agent<Task>>();
  expect(fromAgent(agent).tasks('test').at(0)).toEqual({ goal: 1 });
});

test('tasks of a reducer, a game, an agent and sessions are a function, a list, a set or a file', () => {
  const rest = { description: '', maxTurns: 1 } as const;
  const step = (state: number) => ({ state, observation: '', reward: 0, done: true, valid: true });
  const start = ({ goal }: Task) => ({ state: goal, messages: [] });
  const all = [
    defineEnvironment({ ...rest, name: 'list', tasks: [{ goal: 1 }, { goal: 2 }], start, step }),
    defineEnvironment({ ...rest, name: 'set', tasks: { size: 2, at: (goal) => ({ goal }) }, start, step }),
    defineEnvironment({ ...rest, name: 'file', tasks: './tasks.jsonl', start, step }),
    defineEnvironment({ ...rest, name: 'url', tasks: new URL('file:///tasks.csv'), start, step }),
    defineEnvironment({ ...rest, name: 'split', tasks: (split) => `./${split}.json`, start, step }),
  ] as const;
  for (const environment of all) expectTypeOf(environment).toExtend<Environment<Task, number>>();
  expect(all[0].tasks('train').size).toBe(2);
  const agent = defineAgent({
    name: 'a',
    tasks: [{ goal: 1 }],
    run: async ({ task }) => ({ reward: task.goal }),
  });
  expectTypeOf(agent).toEqualTypeOf<Agent<{ goal: number }>>();
  const session = defineSession({
    name: 's',
    maxTurns: 1,
    tasks: [{ goal: 1 }],
    open: (task, rng, startRng, signal) => {
      expectTypeOf(task).toEqualTypeOf<{ goal: number }>();
      expectTypeOf([rng, startRng]).toEqualTypeOf<Rng[]>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      throw new Error('not here');
    },
  });
  expect([session.roles, session.protocol.name, session.description]).toEqual([['agent'], 'raw', '']);
  const refused = (): void => {
    // @ts-expect-error a number is no list of tasks
    defineEnvironment({ ...rest, name: 'number', tasks: 7, start, step });
    // @ts-expect-error tasks of another type than start takes
    defineEnvironment<Task, number>({ ...rest, name: 'other', tasks: ['red'], start, step });
    // @ts-expect-error a Date is no task
    defineSession<Date>;
  };
  expectTypeOf(refused).toBeFunction();
});

interface Clock {
  readonly started: Date;
}

interface Handle {
  readonly close: () => void;
}

test('anything but JSON is refused by `npm run types`', () => {
  const refused = (environment: Environment<Clock, State>, game: Game<Task, Handle>): void => {
    // @ts-expect-error 'A Date is not JSON: keep it as a string or a number'
    defineEnvironment<Task, Clock>;
    // @ts-expect-error a Map
    defineEnvironment<Map<string, number>, State>;
    // @ts-expect-error a function
    defineGame<Task, Handle>;
    // @ts-expect-error a Date
    defineAgent<Clock>;
    // @ts-expect-error a Date
    fromEnvironment(environment);
    // @ts-expect-error a function
    fromGame(game);
    // @ts-expect-error a Date
    defineAgent({ name: 'late', tasks: () => [new Date()], run: async () => ({ reward: 0 }) });
  };
  // Its lines are for the compiler.
  expectTypeOf(refused).toBeFunction();
});
