/** Plays a world of worlds. Each episode belongs to one of them, which its task names. */

import type { Json, JsonObject } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { noSnapshot } from '../checks.ts';
import type { Split, TaskSet } from '../environment.ts';
import type { ActionProtocol } from '../protocol.ts';
import { rawProtocol } from '../raw-protocol.ts';
import type { SnapshotCost } from '../session.ts';
import { canRepeat, type World } from '../world.ts';
import { invalidMix } from './mix.ts';
import { MixSession } from './mix-session.ts';

export interface MixedWorld {
  /** Of its metrics and tasks. */
  readonly name: string;
  readonly world: World;
  readonly weight: number;
}

/** Costs of snapshots, the cheapest first. */
const COSTS: readonly SnapshotCost[] = ['free', 'process', 'container'];

/** @throws TurnwiseError `mix-invalid` */
export function mixWorlds(
  parts: readonly MixedWorld[],
  name: string = parts.map((part) => part.name).join('+'),
): World {
  const worlds = new Map(parts.map((part) => [part.name, part.world]));
  const { roles } = check(parts, worlds);
  const all = parts.map(({ world }) => world);
  const worldOf = (task: Json): { readonly world: World; readonly task: Json; readonly name: string } => {
    const { environment, task: own } = task as { readonly environment: string; readonly task: Json };
    return { world: worlds.get(environment)!, task: own, name: environment };
  };
  const snapshots = all.every((world) => world.snapshots !== undefined)
    ? COSTS.findLast((cost) => all.some((world) => world.snapshots === cost))
    : undefined;
  const facts = (all[0]!.facts ?? []).filter((fact) => all.every((world) => world.facts?.includes(fact)));
  const scores = all.some(({ scoreGroup }) => scoreGroup !== undefined);
  return {
    name,
    description: parts.map((part) => `${part.name}: ${part.world.description}`).join('\n'),
    roles,
    maxTurns: Math.max(...all.map(({ maxTurns }) => maxTurns)),
    facts,
    ...(all.every(({ pure }) => pure) && { pure: true as const }),
    ...(all.every(canRepeat) && { repeats: true as const }),
    ...(snapshots && { snapshots }),
    protocol: protocolOf(parts),
    tasks: (split) => mixedTasks(parts, split),
    async open(task, ...how) {
      const { world, task: own, name: part } = worldOf(task);
      const session = await world.open(own, ...how);
      return new MixSession(session, world, part, snapshots !== undefined);
    },
    ...(all.every(({ reopen }) => reopen !== undefined) && {
      async reopen(held: Json) {
        const { environment: part, held: own } = (held ?? {}) as {
          readonly environment?: string;
          readonly held?: Json;
        };
        const world = part === undefined ? undefined : worlds.get(part);
        if (part === undefined || world === undefined || own === undefined) throw noSnapshot(name, held);
        return new MixSession(await world.reopen!(own), world, part, snapshots !== undefined);
      },
    }),
    ...(all.every(({ script }) => script !== undefined) && {
      script: (session, kind, rng) =>
        session instanceof MixSession ? session.world.script?.(session.inner, kind, rng) : undefined,
    }),
    ...(all.some(({ correctThought }) => correctThought !== undefined) && {
      correctThought: (turn) => {
        const { session, thought } = turn;
        if (!(session instanceof MixSession)) return thought;
        return session.world.correctThought?.({ ...turn, session: session.inner }) ?? thought;
      },
    }),
    truth: (task) => {
      const { world, task: own } = worldOf(task);
      return world.truth?.(own) ?? [];
    },
    ...(scores && {
      // Members of a group have one task.
      scoreGroup: (episodes, context) => {
        const { world } = worldOf(episodes[0]!.task);
        const own = episodes.map((episode) => ({ ...episode, task: worldOf(episode.task).task }));
        return world.scoreGroup?.(own, context) ?? episodes.map(() => undefined);
      },
    }),
  };
}

function check(parts: readonly MixedWorld[], worlds: ReadonlyMap<string, World>): { roles: World['roles'] } {
  const [first] = parts;
  if (worlds.size < parts.length) {
    const names = parts.map(({ name }) => name);
    throw invalidMix('Two worlds of a mix have one name', names.join(', '), 'a different name for each');
  }
  for (const { name, world } of parts) {
    if (world.agent !== undefined) {
      throw invalidMix(
        `"${name}" is an agent, whose own code plays its episodes`,
        'an agent',
        'worlds that are played turn by turn',
      );
    }
    if (world.users !== undefined) {
      throw invalidMix(
        `"${name}" has simulated users`,
        Object.keys(world.users).join(', '),
        'worlds without simulated users',
      );
    }
    if (world.roles.join() !== first!.world.roles.join()) {
      const seen = `${world.roles.join(', ')} in ${name}`;
      throw invalidMix(
        'The worlds of a mix have different roles',
        seen,
        `${first!.world.roles.join(', ')}, as in ${first!.name}`,
      );
    }
  }
  return { roles: first!.world.roles };
}

/** Endless: each number draws a world by weight, and a task of it; endless worlds give each number a task of its own. */
function mixedTasks(parts: readonly MixedWorld[], split: Split): TaskSet<JsonObject> {
  let total = 0;
  const sets = parts
    .map(({ name, world, weight }) => ({ name, weight, set: world.tasks(split) }))
    .filter(({ set }) => set.size > 0)
    .map(({ name, weight, set }) => {
      total += weight;
      return { name, set, upTo: total };
    });
  return {
    size: sets.length === 0 ? 0 : Number.POSITIVE_INFINITY,
    at(index) {
      const rng = Rng.of('mix', split, index);
      const drawn = rng.next() * total;
      const { name, set } = sets.find(({ upTo }) => drawn < upTo) ?? sets.at(-1)!;
      const own = Number.isFinite(set.size) ? rng.int(set.size) : index;
      return { environment: name, task: set.at(own) };
    },
  };
}

/** The one that all share; otherwise each episode has its own, and this one only tells what there is. */
function protocolOf(parts: readonly MixedWorld[]): ActionProtocol {
  const protocols = parts.map(({ world }) => world.protocol);
  const [first] = protocols;
  const same = protocols.every((one) => one.name === first!.name && one.instructions === first!.instructions);
  if (same) return first!;
  const tools = new Map(
    protocols.flatMap((one) => one.tools ?? []).map((tool) => [JSON.stringify(tool), tool]),
  );
  return {
    ...rawProtocol,
    instructions: parts
      .map(
        ({ name, world }) =>
          `${name}: ${world.protocol.instructions ?? 'Answer with your action alone, and nothing else.'}`,
      )
      .join('\n'),
    ...(tools.size > 0 && { tools: [...tools.values()] }),
  };
}
