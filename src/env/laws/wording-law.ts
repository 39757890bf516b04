/** What two wordings of one world promise: whoever acts alike in both is in the same states and earns the same. */

import type { Json } from '../../core/json/json.ts';
import { samePlain } from '../../core/json/same-plain.ts';
import { Rng } from '../../core/rng.ts';
import { NO_ACTION } from '../protocol.ts';
import type { Session } from '../session.ts';
import type { World } from '../world.ts';

/**
 * Play `task` in both wordings with the same moves and illegible turns in between, and return the first difference, or
 * undefined. The natural wording opens with a system message.
 */
export async function brokenWordingLaw(
  compact: World,
  natural: World,
  task: Json,
  seed: string | number,
): Promise<string | undefined> {
  const [one, other] = await Promise.all(
    [compact, natural].map((world) => world.open(task, Rng.of('wordings', seed))),
  );
  try {
    return await difference([compact, one!], [natural, other!], seed);
  } finally {
    await Promise.all([one?.close(), other?.close()]);
  }
}

type Played = readonly [world: World, session: Session];

async function difference(
  compact: Played,
  natural: Played,
  seed: string | number,
): Promise<string | undefined> {
  const { signal } = new AbortController();
  const choices = Rng.of('moves', seed);
  const opened = new Set<string>();
  for (let turn = 0; ; turn++) {
    const [first, second] = [look(compact), look(natural)];
    if (!samePlain(first, second)) return `after ${turn} turns the two wordings are in different states`;
    const { mover } = first;
    if (mover === undefined || turn >= compact[0].maxTurns * compact[0].roles.length) return undefined;
    if (!opened.has(mover) && natural[1].observe(mover)[0]?.role !== 'system')
      return 'the natural wording does not open with instructions';
    opened.add(mover);
    const isNonsense = choices.chance(0.2);
    const results = await Promise.all(
      [compact, natural].map(async ([world, session]) => {
        const action = isNonsense ? NO_ACTION : await randomMove(world, session, Rng.of('move', seed, turn));
        return action === undefined ? undefined : session.step(action, signal);
      }),
    );
    if (results.includes(undefined)) return 'actions(state) is missing';
    if (!samePlain(results[0], results[1])) return `turn ${turn} has different results in the two wordings`;
  }
}

/** A legal move as the session gets it: formatted and read by the protocol of its wording. */
async function randomMove(world: World, session: Session, rng: Rng): Promise<string | undefined> {
  const action = await world.script?.(session, 'random', rng);
  if (action === undefined) return undefined;
  const parsed = world.protocol.parse(world.protocol.format(action));
  return parsed.ok ? parsed.action : NO_ACTION;
}

function look([world, session]: Played) {
  return {
    mover: session.toMove(),
    anchors: world.roles.map((role) => session.anchor(role)),
    ...(world.pure && { actions: session.actions?.() }),
  };
}
