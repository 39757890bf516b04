/**
 * Episodes as rows: one for each conversation of each role, from its first message to its last answer. An answer that stands in
 * several rows is learned in the first of them, so that all rows of an episode together teach each answer once.
 */

import type { Call, Episode, Group, Role, Transition } from '../core/episode.ts';
import type { Message, ToolCall } from '../core/messages.ts';
import { isTrainable } from '../core/stop.ts';
import { type Chain, chainOf } from '../core/trajectory.ts';
import type { ConversationRow, RowMessage, RowSource, RowTokens } from './row.ts';

export interface RowsAbout {
  readonly kind: RowSource['kind'];
  readonly run?: string;
  readonly label?: string;
  /** Hash of the tokenizer that gives the ids of the calls their meaning. */
  readonly tokenizer?: string;
}

/** A message, or a completion in its place. */
type Read = Message | Call;
const isCall = (read: Read): read is Call => 'ids' in read;

/** The rows of all episodes of a group. */
export function rowsOfGroup(group: Group, about: RowsAbout): ConversationRow[] {
  return group.members.flatMap((episode) => rowsOfEpisode(episode, chainOf(group, episode), about));
}

/** The rows of an episode; `chain` has the calls of its prefix, too, where it is a branch. */
export function rowsOfEpisode(episode: Episode, chain: Chain, about: RowsAbout): ConversationRow[] {
  const roles = Object.keys(episode.outcome);
  return roles.flatMap((role) => rowsOfRole(episode, role, chain, about, roles.length > 1));
}

function rowsOfRole(
  episode: Episode,
  role: Role,
  { calls, transitions }: Chain,
  about: RowsAbout,
  several: boolean,
): ConversationRow[] {
  // Another model that an agent asked is not whom the rows are to teach.
  const own = calls.filter((call) => call.role === role && call.purpose !== 'consult');
  const before = new Map<number, readonly Read[]>();
  const byId = new Map(calls.map((call) => [call.id, call]));
  for (const call of own) before.set(call.id, readBefore(call, before, byId));
  const last = leaves(own, before);
  const rewards = rewardsOf(role, transitions);
  const isSparse = [...rewards].filter(([, value]) => value !== 0).length <= 1 && endsPaid(rewards);
  const taught = new Set<number>();
  const wasPaid = isTrainable(episode.stop);
  return last.map((leaf): ConversationRow => {
    const reads = [...before.get(leaf.id)!, leaf];
    const messages = reads.map((read, index): RowMessage => {
      // What only looks like an answer, such as an example, was shown.
      if (!isCall(read)) return read.role === 'assistant' ? { ...read, weight: 0 } : read;
      const isNew = !taught.has(read.id) && isTaught(read);
      taught.add(read.id);
      const reward = rewards.get(read.id) ?? 0;
      return {
        ...answerOf(read, reads.slice(index + 1)),
        ...(!isNew && { weight: 0 as const }),
        ...(isNew && !isSparse && { reward }),
      };
    });
    const tools = leaf.tools === undefined ? undefined : episode.tools[leaf.tools];
    const tokens = tokensOf(leaf, reads, byId, about.tokenizer);
    return {
      v: 1,
      messages,
      ...(tools && tools.length > 0 && { tools }),
      ...(episode.task !== null && { task: episode.task }),
      ...(wasPaid && { reward: episode.outcome[role] ?? 0, success: episode.success[role] ?? false }),
      source: {
        ...sourceOf(episode, leaf, about),
        ...(several && { role }),
        ...((several || last.length > 1) && { turns: turnsIn(reads) }),
        stop: episode.stop,
      },
      ...(tokens && { tokens }),
    };
  });
}

/** What a role earned by each of its calls until its next one, from whoever's turn it came. */
function rewardsOf(role: Role, transitions: readonly Transition[]): ReadonlyMap<number, number> {
  const isOwn = (one: Transition): boolean => one.role === role && one.call !== undefined;
  const rewards = new Map<number, number>();
  let turn = transitions.find(isOwn)?.call;
  if (turn === undefined) return rewards;
  for (const one of transitions) {
    if (isOwn(one)) turn = one.call!;
    rewards.set(turn, (rewards.get(turn) ?? 0) + (one.rewards[role] ?? 0));
  }
  return rewards;
}

/** The call that each answer is; what only looks like one stands before the next. */
function turnsIn(reads: readonly Read[]): number[] {
  return reads.flatMap((read, index) => {
    if (isCall(read)) return [read.id];
    return read.role === 'assistant' ? [reads.slice(index).find(isCall)!.id] : [];
  });
}

/** Whether only the last of the calls that were paid was paid at all. */
function endsPaid(rewards: ReadonlyMap<number, number>): boolean {
  const values = [...rewards].sort(([a], [b]) => a - b).map(([, value]) => value);
  return values.slice(0, -1).every((value) => value === 0);
}

const isTaught = ({ trainable }: Call): boolean => trainable !== 'left-out' && trainable !== 'earlier';

/** What a call read before it answered, by its record. */
function readBefore(
  { parts, messages, parent }: Call,
  before: ReadonlyMap<number, readonly Read[]>,
  byId: ReadonlyMap<number, Call>,
): readonly Read[] {
  if (parts === undefined) {
    const origin = parent === undefined ? undefined : byId.get(parent);
    return [...(origin ? [...(before.get(origin.id) ?? []), origin] : []), ...messages];
  }
  return parts.flatMap((part): readonly Read[] => {
    if ('content' in part) return [part];
    if ('call' in part) return [byId.get(part.call)!];
    return byId.get(part.shown)?.messages ?? messages;
  });
}

/** The calls with which a conversation ends: no other one begins with all that they read and answered. */
function leaves(calls: readonly Call[], before: ReadonlyMap<number, readonly Read[]>): Call[] {
  const extended = new Set<number>();
  for (const { id } of calls) {
    const reads = before.get(id)!;
    for (const [index, read] of reads.entries()) {
      if (!isCall(read) || extended.has(read.id)) continue;
      const own = before.get(read.id);
      if (own && own.length === index && own.every((one, at) => isSame(one, reads[at]!)))
        extended.add(read.id);
    }
  }
  return calls.filter(({ id }) => !extended.has(id));
}

const isSame = (a: Read, b: Read): boolean => (isCall(a) && isCall(b) ? a.id === b.id : a === b);

/** The answer as a message. Results that follow name the ids of its calls, which its record does not know. */
function answerOf({ id, reply, text }: Call, after: readonly Read[]): RowMessage {
  if (reply === undefined) return { role: 'assistant', content: text };
  const { content, reasoning, toolCalls: made } = reply;
  const next = after.findIndex((read) => isCall(read) || read.role === 'assistant');
  const results = (next < 0 ? after : after.slice(0, next)).flatMap((read) =>
    !isCall(read) && read.role === 'tool' && read.toolCallId !== undefined ? [read.toolCallId] : [],
  );
  const toolCalls = made.map(
    (call, index): ToolCall => ({ id: results[index] ?? `call_${id}_${index}`, ...call }),
  );
  return {
    role: 'assistant',
    content,
    ...(reasoning !== undefined && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

/** The ids of a conversation that was read and written token by token, without a cut; else none. */
function tokensOf(
  leaf: Call,
  reads: readonly Read[],
  byId: ReadonlyMap<number, Call>,
  tokenizer: string | undefined,
): RowTokens | undefined {
  const path: Call[] = [];
  for (
    let call: Call | undefined = leaf;
    call;
    call = call.parent === undefined ? undefined : byId.get(call.parent)
  ) {
    if (call.ids.length === 0 || (call.kept !== undefined && call.parent !== undefined)) return undefined;
    path.unshift(call);
  }
  const read = reads.filter(isCall);
  if (read.length !== path.length || read.some(({ id }, index) => path[index]?.id !== id)) return undefined;
  const ids: number[] = [];
  const logprobs: number[] = [];
  const sampled = reads.flatMap((one): (readonly [number, number])[] => {
    if (!isCall(one)) return one.role === 'assistant' ? [[ids.length, ids.length]] : [];
    for (const id of one.context) ids.push(id);
    const from = ids.length;
    for (const id of one.ids) ids.push(id);
    for (const logprob of one.logprobs) logprobs.push(logprob);
    return [[from, ids.length]];
  });
  return {
    ...(tokenizer !== undefined && { tokenizer }),
    ids: Int32Array.from(ids),
    sampled,
    logprobs: Float32Array.from(logprobs),
    ...topOf(read),
  };
}

/** The likeliest tokens of a teacher, where all calls have them. */
function topOf(calls: readonly Call[]): Pick<RowTokens, 'top'> {
  const numbers = new Set(calls.map(({ ids, top }) => (top?.ids.length ?? 0) / ids.length));
  const [k = 0] = numbers;
  if (numbers.size !== 1 || k === 0) return {};
  const ids = Int32Array.from(calls.flatMap(({ top }) => Array.from(top!.ids)));
  const logprobs = Float32Array.from(calls.flatMap(({ top }) => Array.from(top!.logprobs)));
  return { top: { k, ids, logprobs } };
}

function sourceOf({ key }: Episode, { by }: Call, { kind, run, label }: RowsAbout): RowSource {
  const { step, environment, split, task, group, member } = key;
  return {
    kind,
    by: by.kind === 'policy' && run !== undefined ? `${run}@${by.version}` : by.name,
    ...(run !== undefined && { run }),
    // Sessions of no environment in particular.
    ...(environment !== 'gateway' && { environment }),
    split,
    ...(label !== undefined && { label }),
    episode: { step, task, group, member },
  };
}
