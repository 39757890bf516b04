/** Made-up episodes for tests, which say of them only what they are about. */

import type { Author, Call, Episode, EpisodeKey, Group, Role, Transition } from '../episode.ts';
import { roleGroups, type Trajectory } from '../trajectory.ts';

const AGENT: Role = 'agent';

export const byPolicy = (name = 'learner', version = 0): Author => ({ kind: 'policy', name, version });

/** What is said of a call; tokens may be plain lists. */
export type MadeCall = Omit<Partial<Call>, 'context' | 'logprobs'> & {
  readonly context?: ArrayLike<number>;
  readonly logprobs?: ArrayLike<number>;
};

/**
 * A call of the learner, with the tokens of `written` or so many of its own: 100 and up for call 0, 200 and up for call 1.
 * Its context is one token, the id of the call.
 */
export function madeCall(id: number, written: number | ArrayLike<number> = 1, more: MadeCall = {}): Call {
  const { context = [id], logprobs, ...rest } = more;
  const ids =
    typeof written === 'number'
      ? Int32Array.from({ length: written }, (_, token) => 100 * (id + 1) + token)
      : Int32Array.from(written);
  return {
    id,
    conversation: more.role ?? AGENT,
    role: AGENT,
    by: byPolicy(),
    purpose: 'act',
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 9 },
    context: Int32Array.from(context),
    ids,
    logprobs: logprobs ? Float32Array.from(logprobs) : new Float32Array(ids.length).fill(-1),
    messages: [],
    text: '',
    finish: 'stop',
    trainable: true,
    at: id,
    waitMs: 0,
    policyMs: 0,
    ...rest,
  };
}

/** What came of a call; of nobody's where it is undefined. */
export function madeTransition(
  call: number | undefined,
  reward = 0,
  more: Partial<Transition> = {},
): Transition {
  const role = more.role ?? AGENT;
  return {
    ...(call !== undefined && { call }),
    role,
    anchor: '',
    action: '',
    valid: true,
    rewards: { [role]: reward },
    at: call ?? 0,
    environmentMs: 0,
    ...more,
  };
}

export const madeKey = (more: Partial<EpisodeKey> = {}): EpisodeKey => ({
  step: 1,
  environment: 'made-up',
  split: 'train',
  task: 0,
  group: 0,
  member: 0,
  ...more,
});

/** An episode that earned what its transitions and scores say, unless `outcome` says more: that of a branch's prefix. */
export function madeEpisode(
  member: number,
  calls: readonly Call[],
  transitions: readonly Transition[],
  more: Partial<Episode> = {},
): Episode {
  const outcome: Record<Role, number> = {};
  for (const { role } of calls) outcome[role] ??= 0;
  for (const { rewards } of [...transitions, ...(more.scores ?? [])]) {
    for (const [role, reward] of Object.entries(rewards)) outcome[role] = (outcome[role] ?? 0) + reward;
  }
  if (calls.length + transitions.length === 0) outcome[AGENT] = 0;
  return {
    key: madeKey({ member }),
    task: null,
    calls,
    transitions,
    tools: {},
    seats: {},
    outcome,
    success: Object.fromEntries(Object.entries(outcome).map(([role, earned]) => [role, earned > 0])),
    stop: 'done',
    ...more,
  };
}

/** A turn of an agent alone: a call and what came of it. */
export interface MadeTurn {
  readonly written?: number | ArrayLike<number>;
  readonly reward?: number;
  /** A path of its own, as a window makes it. */
  readonly anew?: boolean;
  readonly call?: MadeCall;
  readonly transition?: Partial<Transition>;
}

/** An episode of an agent alone, turn after turn; each call extends the one before. */
export function playedEpisode(
  member: number,
  turns: readonly MadeTurn[],
  more: Partial<Episode> = {},
): Episode {
  const calls = turns.map(({ written, anew, call }, id) =>
    madeCall(id, written, {
      ...(id > 0 && (anew ? { newPath: 'window' } : { parent: id - 1 })),
      ...call,
    }),
  );
  const transitions = turns.map(({ reward, transition }, id) => madeTransition(id, reward, transition));
  return madeEpisode(member, calls, transitions, more);
}

export const madeGroup = (...members: readonly Episode[]): Group => ({ step: 1, group: 0, members });

/** One role of the members of a group. */
export function trajectoriesOf(group: Group, role: Role = AGENT): readonly Trajectory[] {
  return roleGroups([group]).find((own) => own.role === role)?.members ?? [];
}

/** One role of an episode that is alone in its group. */
export function trajectoryOf(episode: Episode, role: Role = AGENT): Trajectory {
  const [trajectory] = trajectoriesOf(madeGroup(episode), role);
  if (trajectory === undefined) throw new RangeError(`The episode has no role ${role}`);
  return trajectory;
}
