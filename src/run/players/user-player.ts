/** Simulated users of an environment: each plays its role by its own policy, whoever learns the others. */

import type { Role } from '../../core/episode.ts';
import { system } from '../../core/messages.ts';
import type { SimulatedUser } from '../../env/user/simulate-user.ts';
import { instructionsOf } from '../../env/user/talk.ts';
import type { World } from '../../env/world.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Player } from '../../policy/seated.ts';
import { userModels } from '../../server/gateway/agents/user-model.ts';
import { readChatCall } from '../../server/gateway/call-request.ts';
import type { SpendMeter } from '../../server/gateway/spend.ts';

/** @param meter counts its calls, where a model elsewhere plays it */
export function userPolicy(name: string, user: SimulatedUser, meter?: SpendMeter): Policy {
  const modelOf = userModels({ users: { [name]: user } }, meter);
  return {
    author: { kind: 'script', name, version: 0 },
    complete: async ({ task, messages, conversation, seedKey, signal }) => {
      const [model] = modelOf(task);
      const told = [system(instructionsOf(user, task)), ...messages];
      const { temperature } = user;
      const call = readChatCall({
        model: name,
        messages: told.map(({ role, content }) => ({ role, content })),
        ...(temperature !== undefined && { temperature }),
      });
      const asked = { call, conversation, seedKey, contentKey: seedKey, promptIds: new Int32Array(), signal };
      const { reply } = await model!.answer(asked);
      return {
        ids: new Int32Array(),
        logprobs: new Float32Array(),
        text: reply.content,
        finish: 'none',
        by: { ...model!.author, version: 0 },
        trainable: 'other-model',
      };
    },
  };
}

/** The players of a world's simulated users, for whoever seats no others. */
export function usersOfWorld(
  { users = {} }: Pick<World, 'users'>,
  meter?: SpendMeter,
): ReadonlyMap<Role, Player> {
  return new Map(
    Object.entries(users).map(([name, user]) => [name, { name, policy: userPolicy(name, user, meter) }]),
  );
}
