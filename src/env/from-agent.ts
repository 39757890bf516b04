/** An agent as a world: its tasks and limits. Its episodes are its own code, which the gateway records. */

import { TurnwiseError } from '../core/errors.ts';
import type { JsonCompatible } from '../core/json/json-compatible.ts';
import type { Agent } from './agent.ts';
import { rawProtocol } from './raw-protocol.ts';
import { readerOf } from './tasks/tasks.ts';
import type { World } from './world.ts';

export function fromAgent<Task extends JsonCompatible<Task>>(agent: Agent<Task>): World {
  return {
    name: agent.name,
    description: agent.description,
    roles: agent.roles,
    maxTurns: agent.maxCalls,
    protocol: rawProtocol,
    agent: agent as unknown as Agent,
    tasks: readerOf(agent),
    ...(agent.truth && { truth: (task) => agent.truth!(task as Task) }),
    ...(agent.scoreGroup && { scoreGroup: agent.scoreGroup }),
    open: async () => {
      throw new TurnwiseError('agent-plays-itself', {
        what: `"${agent.name}" is an agent: its own code plays its episodes, so they cannot be stepped from outside`,
        allowed: 'train, resume, eval, play and gateway',
        next: `Measure it with: turnwise eval RUN`,
        fields: { environment: agent.name },
      });
    },
  };
}
