/** One episode of a policy that is a table, and what credit is told of it. Knows nothing of learning. */

import type { Json } from '../../src/core/json/json.ts';
import type { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import type { CreditTrajectory, CreditTurn } from '../../src/credit/report/rollouts.ts';
import type { Environment } from '../../src/env/environment.ts';
import type { Game } from '../../src/env/game.ts';
import { AGENT, type Role } from '../../src/env/session.ts';

export interface Visit {
  /** The state that was acted in, and the row of the table that acted. */
  readonly state: Json;
  readonly row: string;
  readonly action: number;
  readonly probabilities: readonly number[];
}

export interface Table {
  readonly rng: Rng;
  readonly logits: Map<string, Float64Array>;
  readonly remembers: 'state' | 'history';
  /** Takes the place of the first action. */
  readonly forced?: string;
}

/** One role's view of an episode. */
export interface Seat {
  readonly role: Role;
  readonly visits: Visit[];
  readonly turns: CreditTurn[];
  facts: Partial<CreditTrajectory>;
  success: boolean;
}

/** Play on from a state to the end. */
export function play(game: Game, start: Json, { rng, logits, remembers, forced }: Table): Seat[] {
  let state = start;
  const seats = new Map<Role, Seat>(
    game.roles.map((role) => [role, { role, visits: [], turns: [], facts: {}, success: false }]),
  );
  for (let role = game.toMove(state); role !== undefined; role = game.toMove(state)) {
    const seat = seats.get(role)!;
    if (seat.turns.length === game.maxTurns) break;
    const anchor = game.anchor(state, role);
    const before = remembers === 'history' ? (seat.visits.at(-1)?.row ?? '') : '';
    const row = game.roles.length > 1 && before === '' ? `${role}: ${anchor}` : `${before}/${anchor}`;
    const actions = game.actions!(state, role);
    const table = logits.get(row) ?? new Float64Array(actions.length);
    logits.set(row, table);
    const probabilities = softmax(table);
    const drawn = draw(probabilities, rng);
    const action = forced !== undefined && seat.turns.length === 0 ? actions.indexOf(forced) : drawn;
    seat.visits.push({ state, row, action, probabilities });
    const result = game.step(state, role, actions[action]!, rng);
    const { turn, trajectory } = factsOf(result.info, 'A turn of the table');
    seat.facts = { ...seat.facts, ...trajectory };
    seat.turns.push({ reward: 0, tokens: 1, anchor, valid: result.valid, ...turn });
    for (const other of seats.values()) {
      // A reward belongs to the role's latest turn, as in a rollout.
      const last = other.turns.pop();
      if (last) other.turns.push({ ...last, reward: last.reward + (result.rewards[other.role] ?? 0) });
      if (result.done) other.success = result.success?.[other.role] ?? false;
    }
    state = result.state;
    if (result.done) break;
  }
  return [...seats.values()];
}

/** An environment is a game of one role. */
export function gameOf(environment: Environment | Game): Game {
  if ('toMove' in environment) return environment;
  return {
    name: environment.name,
    description: environment.description,
    roles: [AGENT],
    maxTurns: environment.maxTurns,
    tasks: (split) => environment.tasks(split),
    start: (task, rng) => environment.start(task, rng).state,
    toMove: () => AGENT,
    observe: () => [],
    step: (state, _role, action, rng) => {
      const { reward, success = false, ...rest } = environment.step(state, action, rng);
      return { ...rest, rewards: { [AGENT]: reward }, success: { [AGENT]: success } };
    },
    anchor: (state) => environment.anchor!(state),
    actions: (state) => environment.actions!(state),
  };
}

function softmax(logits: Float64Array): number[] {
  const highest = Math.max(...logits);
  const weights = Array.from(logits, (logit) => Math.exp(logit - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

function draw(probabilities: readonly number[], rng: Rng): number {
  let left = rng.next();
  for (const [index, p] of probabilities.entries()) {
    left -= p;
    if (left < 0) return index;
  }
  return probabilities.length - 1;
}
