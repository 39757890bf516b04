/** Scripted players of the programming questions. They know no more than what the agent was told. */

import type { Rng } from '../../src/core/rng.ts';
import type { PlayerKind } from '../../src/env/world.ts';
import { applyOperation, OPERATION_NAMES, OPERATIONS } from './operations.ts';
import type { JsSession } from './session.ts';
import { answerOf, show } from './tasks.ts';

export interface Move {
  readonly tool: 'run' | 'submit';
  readonly code: string;
}

const run = (code: string): Move => ({ tool: 'run', code });
const SUBMIT: Move = { tool: 'submit', code: 'r' };
const VARIABLES = ['xs', 'ys', 'word', 'r'];

/** Every move of the small command language. */
export const MOVES: readonly Move[] = [
  ...OPERATION_NAMES.flatMap((name) => VARIABLES.map((variable) => run(`r = ${name}(${variable})`))),
  ...['xs', 'ys'].map((variable) => run(`${variable} = parse(${variable})`)),
  SUBMIT,
];

export function chooseMove(session: JsSession, kind: PlayerKind, rng: Rng): Move {
  if (kind === 'random') return rng.pick(MOVES);
  return kind === 'expert' ? expertMove(session) : beginnerMove(session, rng);
}

/** Stores each step in `r`, parses only after an operation was refused, and submits when `r` is the answer. */
function expertMove(session: JsSession): Move {
  const { task, variables } = session;
  const { inner, outer, source } = task;
  const r = JSON.stringify(variables?.r);
  if (r === show(answerOf(task))) return SUBMIT;
  if (r === show(applyOperation(inner, task[source]))) return run(`r = ${outer}(r)`);
  if (session.last.includes('unparsed')) return run(`${source} = parse(${source})`);
  return run(`r = ${inner}(${source})`);
}

/** Half of its moves are one of four mistakes; the others are the expert's. */
function beginnerMove(session: JsSession, rng: Rng): Move {
  const { inner, outer, source } = session.task;
  const others = OPERATION_NAMES.filter((name) => OPERATIONS[name]!.from === OPERATIONS[inner]!.from);
  switch (rng.int(8)) {
    case 0: // the wrong operation
      return run(`r = ${rng.pick(others)}(${source})`);
    case 1: // forgets to store
      return run(`${inner}(${source})`);
    case 2: // submits too early
      return SUBMIT;
    case 3: // takes the steps in the wrong order
      return run(`r = ${outer}(${source})`);
    default:
      return expertMove(session);
  }
}
