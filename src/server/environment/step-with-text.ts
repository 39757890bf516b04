/** A step by what a policy wrote: the action is found here, so that clients need not know the environment's protocol. */

import { partOf } from '../../env/mix/part.ts';
import { NO_ACTION, tellProblem } from '../../env/protocol.ts';
import type { World } from '../../env/world.ts';
import type { SessionTable, StepOutcome } from './session-table.ts';

/** Where no action can be read the empty one is taken, and the next messages begin with the problem, as in a rollout. */
export async function stepWithText(
  world: World,
  table: SessionTable,
  id: string,
  step: number,
  text: string,
): Promise<StepOutcome> {
  const { protocol } = partOf(world, table.read(id).session);
  const parsed = protocol.parse(text);
  const outcome = await table.step(id, step, parsed.ok ? parsed.action : NO_ACTION);
  if (parsed.ok) return outcome;
  const { view } = outcome;
  const told = Object.entries(view.messages).map(([role, messages]) => [
    role,
    role === view.toMove ? tellProblem(parsed.problem, messages) : messages,
  ]);
  return {
    ...outcome,
    valid: false,
    view: { ...view, messages: Object.fromEntries(told) },
  };
}
