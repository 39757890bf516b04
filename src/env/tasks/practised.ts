/** Whether the tasks that an agent is measured on are kept from training: what success on them means depends on it. */

import { canonicalJson, type Json } from '../../core/json/json.ts';
import type { TaskSet } from '../environment.ts';
import type { World } from '../world.ts';

/** `held-out`: no test task is a training task. `practised`: all of them are. `partly`: some. */
export type TestTasks = 'held-out' | 'practised' | 'partly';

/** Endless sets are compared as far as this; it finds one generator that serves both splits. */
const mostCompared = 300;

/** What the tasks themselves say. Tasks that only name what a server holds look different, whatever the server does. */
export function testTasksOf({ tasks }: Pick<World, 'tasks'>): TestTasks {
  const trained = new Set(someOf(tasks('train')));
  const tests = someOf(tasks('test'));
  const practised = tests.filter((task) => trained.has(task)).length;
  if (practised === 0) return 'held-out';
  return practised === tests.length ? 'practised' : 'partly';
}

function someOf({ size, at }: TaskSet<Json>): string[] {
  return Array.from({ length: Math.min(size, mostCompared) }, (_, index) => canonicalJson(at(index)));
}
