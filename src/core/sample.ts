/** A token sequence as the policy saw it, with the tokens it sampled marked. The unit of training. */

import { type AllowedIds, allowedAt, isForced } from './choices.ts';
import type { Call, EpisodeKey, Group, Role, TopTokens } from './episode.ts';
import { isTrained, roleGroups, type Trajectory } from './trajectory.ts';

export interface Sample {
  readonly episode: EpisodeKey;
  readonly role: Role;
  /** T token ids: prompt, completions and observations in the order the policy saw them. */
  readonly ids_T: Int32Array;
  /** 1 exactly on tokens the policy sampled. */
  readonly mask_T: Uint8Array;
  /** Log-probability at sampling time on masked tokens, 0 elsewhere. */
  readonly logprobs_T: Float32Array;
  /** Index of the turn of credit that sampled the token, -1 elsewhere. */
  readonly turn_T: Int32Array;
  /** Id of the call that sampled the token, -1 elsewhere. */
  readonly call_T: Int32Array;
  /** What masked tokens of restricted completions were chosen among, null elsewhere; absent where none was restricted. */
  readonly allowed_T?: AllowedIds;
  /** What a teacher would have written in the place of masked tokens; absent unless all of them have it, k for each. */
  readonly top_T?: TopTokens;
}

/** The mask of tokens that were chosen: forced ones, which alone could come, are not among them. */
export function chosenMask({ mask_T, allowed_T }: Pick<Sample, 'mask_T' | 'allowed_T'>): Uint8Array {
  if (allowed_T === undefined) return mask_T;
  return mask_T.map((bit, token) => (isForced(allowed_T[token]) ? 0 : bit));
}

/**
 * The samples of a player in a group: the paths of calls from root to leaf. Each token that it sampled has mask 1 in exactly
 * one sample of an episode. Samples of a branch repeat its prefix, masked alike.
 */
export function samplesOf(group: Group, player: string): Sample[] {
  return roleGroups([group]).flatMap(({ members }) =>
    members.flatMap((trajectory) =>
      samplesOfTrajectory(trajectory, (call) => isTrained(call) && call.by.name === player),
    ),
  );
}

/**
 * The samples of one role of an episode. `learned` chooses the calls whose tokens are marked: those that are trained, unless
 * demonstrations are imitated.
 */
export function samplesOfTrajectory(
  trajectory: Trajectory,
  learned: (call: Call) => boolean = isTrained,
): Sample[] {
  const { calls, role, episode } = trajectory;
  const byId = new Map(calls.map((call) => [call.id, call]));
  const extended = extendedBy(
    calls.filter((call) => call.role === role),
    byId,
  );
  const turnOf = new Map(trajectory.turns.flatMap((turn, k) => turn.calls.map(({ id }) => [id, k])));
  const marked = new Set<number>();
  const samples: Sample[] = [];
  for (const leaf of calls) {
    if (leaf.role !== role || extended.has(leaf.id)) continue;
    const path = pathTo(leaf, byId);
    const fresh = path.filter(
      ({ call, own }) =>
        own && call.role === role && call.ids.length > 0 && learned(call) && !marked.has(call.id),
    );
    if (fresh.length === 0) continue;
    for (const { call } of fresh) marked.add(call.id);
    samples.push({
      episode: episode.key,
      role,
      ...fill(path, new Set(fresh.map(({ call }) => call.id)), turnOf),
    });
  }
  return samples;
}

/** The calls that some of these go on from without a cut. What others than the role go on from is a leaf of the role. */
function extendedBy(calls: readonly Call[], byId: ReadonlyMap<number, Call>): ReadonlySet<number> {
  const extended = new Set<number>();
  for (const last of calls) {
    for (
      let call: Call | undefined = last;
      call?.parent !== undefined && call.kept === undefined && !extended.has(call.parent);
      call = byId.get(call.parent)
    ) {
      extended.add(call.parent);
    }
  }
  return extended;
}

/** The prompt of a call, token by token. */
export function promptOf(call: Call, calls: readonly Call[]): Int32Array {
  const path = pathTo(call, new Map(calls.map((other) => [other.id, other])));
  const { ids_T } = fill(path, new Set(), new Map());
  return ids_T.subarray(0, ids_T.length - call.ids.length);
}

/** A call of a path, and how many of its tokens (context and completion) the path reads. */
interface Step {
  readonly call: Call;
  readonly tokens: number;
  /** Whether the path may train it: false where a later call cut into it. */
  readonly own: boolean;
}

/** The calls from the root to `leaf`, whose tokens one after another are what the policy saw. */
function pathTo(leaf: Call, byId: ReadonlyMap<number, Call>): Step[] {
  const path: Step[] = [{ call: leaf, tokens: leaf.context.length + leaf.ids.length, own: true }];
  let own = true;
  for (let call = leaf; call.parent !== undefined; ) {
    const parent = byId.get(call.parent);
    if (parent === undefined)
      throw new RangeError(`Call ${call.id} continues call ${call.parent}, which is not there`);
    own &&= call.kept === undefined;
    path.push({ call: parent, tokens: parent.context.length + parent.ids.length, own });
    if (call.kept !== undefined) return keep(path, call.kept, parent, byId);
    call = parent;
  }
  return path.reverse();
}

/** The path so far, of which its last call's prompt and completion give only their first `kept` tokens. */
function keep(path: Step[], kept: number, parent: Call, byId: ReadonlyMap<number, Call>): Step[] {
  path.pop();
  let left = kept;
  const prefix: Step[] = [];
  for (const step of pathTo(parent, byId)) {
    if (left <= 0) break;
    prefix.push({ call: step.call, tokens: Math.min(step.tokens, left), own: false });
    left -= step.tokens;
  }
  return [...prefix, ...path.reverse()];
}

function fill(
  path: readonly Step[],
  marked: ReadonlySet<number>,
  turnOf: ReadonlyMap<number, number>,
): Omit<Sample, 'episode' | 'role'> {
  const length = path.reduce((sum, { tokens }) => sum + tokens, 0);
  const ids_T = new Int32Array(length);
  const mask_T = new Uint8Array(length);
  const logprobs_T = new Float32Array(length);
  const turn_T = new Int32Array(length).fill(-1);
  const call_T = new Int32Array(length).fill(-1);
  let allowed_T: (Int32Array | null)[] | undefined;
  let at = 0;
  for (const { call, tokens } of path) {
    const { context, ids, logprobs } = call;
    const read = Math.min(tokens, context.length);
    ids_T.set(read === context.length ? context : context.subarray(0, read), at);
    const written = tokens - read;
    const first = at + read;
    ids_T.set(written === ids.length ? ids : ids.subarray(0, written), first);
    if (marked.has(call.id)) {
      mask_T.fill(1, first, first + written);
      logprobs_T.set(logprobs, first);
      turn_T.fill(turnOf.get(call.id) ?? -1, first, first + written);
      call_T.fill(call.id, first, first + written);
      if (call.choices) {
        allowed_T ??= new Array<Int32Array | null>(length).fill(null);
        allowed_T.splice(first, written, ...allowedAt(call.choices, ids.subarray(0, written)));
      }
    }
    at += tokens;
  }
  const top_T = topOf(path, marked, length);
  return {
    ids_T,
    mask_T,
    logprobs_T,
    turn_T,
    call_T,
    ...(allowed_T && { allowed_T }),
    ...(top_T && { top_T }),
  };
}

/** The likeliest tokens of marked calls, in their places. */
function topOf(path: readonly Step[], marked: ReadonlySet<number>, length: number): TopTokens | undefined {
  const own = path.filter(({ call }) => marked.has(call.id));
  const numbers = new Set(own.map(({ call }) => (call.top?.ids.length ?? 0) / call.ids.length));
  const [k = 0] = numbers;
  if (numbers.size !== 1 || k === 0) return undefined;
  const top = { ids: new Int32Array(length * k), logprobs: new Float32Array(length * k) };
  let at = 0;
  for (const { call, tokens } of path) {
    if (marked.has(call.id) && call.top) {
      const first = (at + call.context.length) * k;
      top.ids.set(call.top.ids, first);
      top.logprobs.set(call.top.logprobs, first);
    }
    at += tokens;
  }
  return top;
}
