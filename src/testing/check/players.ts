/** Players that try to do well, badly or without the task, and what they did. */

import type { Json, JsonObject } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { thrownText } from '../../core/safe-text.ts';
import type { Split } from '../../env/environment.ts';
import { partOf } from '../../env/mix/part.ts';
import type { Role, Session } from '../../env/session.ts';
import type { World } from '../../env/world.ts';

/** What a player does; undefined where it cannot play. */
export type Choose = (
  world: World,
  session: Session,
  rng: Rng,
) => string | undefined | Promise<string | undefined>;

export interface Player {
  readonly name: string;
  readonly choose: Choose;
}

export const expert: Player = {
  name: 'expert',
  choose: (world, session, rng) => world.script?.(session, 'expert', rng),
};
export const beginner: Player = {
  name: 'beginner',
  choose: (world, session, rng) => world.script?.(session, 'beginner', rng),
};
export const random: Player = {
  name: 'random',
  choose: (world, session, rng) => world.script?.(session, 'random', rng),
};

/** As a model after a little practice: half of its turns are the expert's. */
export const practised: Player = {
  name: 'practised',
  choose: (world, session, rng) => (rng.chance(0.5) ? expert : random).choose(world, session, rng),
};

/** Says the same, whatever it reads. */
export function constant(action: string): Player {
  return { name: `constant ${JSON.stringify(action)}`, choose: () => action };
}

/** Takes what pays at once, and would rather go on than end: it finds rewards that can be had again and again. */
export const farmer: Player = {
  name: 'farmer',
  async choose(_world, session, rng) {
    const actions = rng.shuffle(session.actions?.() ?? []).slice(0, 12);
    if (actions.length === 0 || session.snapshot === undefined) return undefined;
    const role = session.toMove() ?? '';
    const snapshot = await session.snapshot();
    let best = { action: actions[0]!, worth: Number.NEGATIVE_INFINITY };
    for (const [index, action] of actions.entries()) {
      const twin = await snapshot.open({ chance: rng.fork('try', index) });
      const step = await twin.step(action, new AbortController().signal);
      const worth = (step.rewards[role] ?? 0) - (step.done ? 1e6 : 0);
      if (worth > best.worth) best = { action, worth };
      await twin.close();
    }
    await snapshot.dispose();
    return best.action;
  },
};

export interface Place extends JsonObject {
  readonly split: Split;
  readonly index: number;
  readonly seed: number;
}

/** What a player did in one episode. */
export interface Play {
  readonly place: Place;
  readonly actions: readonly string[];
  /** Of the role that was watched. */
  readonly outcome: number;
  readonly success: boolean;
  readonly done: boolean;
  /** Number of the first turn whose action was refused. */
  readonly refused: number | undefined;
  readonly rewards: readonly number[];
  /** Anchor and text before each turn, and at the end. */
  readonly looks: readonly { readonly anchor: string; readonly text: string }[];
  readonly thrown?: string;
}

/**
 * One episode: `player` in `role`, random players in the others. Undefined where the player cannot play.
 *
 * @param start seeds the start, which members of a group share
 */
export async function playOnce(
  world: World,
  task: Json,
  place: Place,
  player: Player,
  role: Role = world.roles[0]!,
  start: number = place.seed,
): Promise<Play | undefined> {
  const { signal } = new AbortController();
  const rng = Rng.of('check', player.name, place.seed);
  const actions: string[] = [];
  const rewards: number[] = [];
  const looks: { anchor: string; text: string }[] = [];
  const used = new Map<Role, number>();
  let refused: number | undefined;
  let last = { done: false, success: false };
  const told = (thrown?: string): Play => ({
    ...{ place, actions, rewards, looks, refused, ...last },
    outcome: rewards.reduce((sum, reward) => sum + reward, 0),
    ...(thrown !== undefined && { thrown }),
  });
  try {
    const session = await world.open(task, Rng.of('world', place.seed), Rng.of('start', start));
    try {
      for (;;) {
        looks.push({
          anchor: session.anchor(role),
          text: session
            .observe(role)
            .map(({ content }) => content)
            .join('\n'),
        });
        const mover = session.toMove();
        const turns = used.get(mover ?? '') ?? 0;
        if (mover === undefined || turns >= partOf(world, session).maxTurns) return told();
        used.set(mover, turns + 1);
        const action = await (mover === role ? player : random).choose(world, session, rng);
        if (action === undefined) return undefined;
        const step = await session.step(action, signal);
        if (mover === role && !step.valid) refused ??= actions.length;
        actions.push(action);
        rewards.push(step.rewards[role] ?? 0);
        last = { done: step.done, success: step.success[role] ?? false };
      }
    } finally {
      await session.close();
    }
  } catch (error) {
    return told(thrownText(error));
  }
}

/** Means and the paired error of a difference. */
export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
