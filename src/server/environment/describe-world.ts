/** What a server tells of its environment (`environmentAnswer` of the wire): all that a client must know to play it. */

import type { JsonObject } from '../../core/json/json.ts';
import type { Split } from '../../env/environment.ts';
import { WIRE_VERSION } from '../../env/wire.ts';
import type { World } from '../../env/world.ts';

export function describeWorld(world: World, maxSessions: number, settings: JsonObject): JsonObject {
  const { name, description, roles, maxTurns, protocol, facts = [] } = world;
  const size = (split: Split): number | null => {
    const count = world.tasks(split).size;
    return Number.isFinite(count) ? count : null;
  };
  return {
    protocol: WIRE_VERSION,
    name,
    description,
    roles,
    maxTurns,
    action: describeAction(protocol),
    tasks: { train: size('train'), validation: size('validation'), test: size('test') },
    facts: [...facts],
    pure: world.pure ?? false,
    snapshots: world.snapshots ?? null,
    ...(world.scoreGroup && { scoresGroups: true }),
    scripts: world.script !== undefined,
    settings,
    maxSessions,
  };
}

/** How actions are found in what a policy wrote. */
export function describeAction({ name, tools, answers }: World['protocol']): JsonObject {
  return { form: name, ...(tools && { tools }), ...(answers && { answers }) };
}
