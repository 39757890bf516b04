/** One episode as its page shows it: conversation, tokens and turns, long texts cut. */

import type { Call, Episode, Group } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { entropyOf, surpriseOf } from '../../core/surprise.ts';
import { chainOf, isTrained, roleGroups } from '../../core/trajectory.ts';
import type { ShardHeader } from '../../store/rollouts/shard.ts';
import type { CutText, ShownCall, ShownEpisode, ShownMessage, ShownTurn } from '../shapes.ts';
import { allFinite, finite } from './finite.ts';
import type { ReadGroup } from './groups.ts';
import type { Pieces } from './pieces.ts';
import { placeOf, unknownEpisode } from './step-episodes.ts';

/** A text that is longer is cut to so many characters; the page asks for more. */
const longText = 64 * 1024;
const shownText = 4 * 1024;
/** Tokens of one call that are sent at once. */
const mostTokens = 16_384;

export interface EpisodeParts {
  readonly read: ReadGroup;
  readonly member: number;
  readonly pieces: Pieces | undefined;
  readonly header: ShardHeader | undefined;
}

/** @throws TurnwiseError `episode-unknown` */
export function shownEpisode({ read, member, pieces, header }: EpisodeParts): ShownEpisode {
  const { stored, group } = read;
  const episode = memberAt(read, member);
  const { branchedFrom, credit = {}, failure } = episode;
  const { calls } = chainOf(group, episode);
  const turns = turnsOf(read, member);
  const entropies = entropiesOf(group, member);
  const origin = branchedFrom && group.members.findIndex(({ key }) => isSame(key, branchedFrom.episode));
  return {
    place: placeOf(stored.shard),
    key: episode.key,
    label: stored.label,
    task: cutText(typeof episode.task === 'string' ? episode.task : JSON.stringify(episode.task)),
    joint: pieces?.joint ?? '',
    calls: calls.map((call) => shownCall(call, pieces, entropies.get(call.id))),
    turns,
    closing: Object.fromEntries(
      Object.entries(episode.closing ?? {}).map(([role, messages]) => [role, messages.map(shownMessage)]),
    ),
    outcome: allFinite(episode.outcome),
    success: episode.success,
    seats: episode.seats,
    stop: episode.stop,
    ...(failure !== undefined && { failure: failure.slice(0, shownText) }),
    ...(branchedFrom && { branchedFrom: { member: origin ?? -1, turn: branchedFrom.transition + 1 } }),
    scores: (episode.scores ?? []).map(({ by, rewards }) => ({ by, rewards: allFinite(rewards) })),
    ...(header?.credit && { credit: header.credit }),
    left: Object.entries(credit).flatMap(([role, { inLoss }]) => (inLoss ? [] : [role])),
    seconds:
      Math.max(
        0,
        ...calls.map(({ at, waitMs, policyMs }) => at + waitMs + policyMs),
        ...episode.transitions.map(({ at, environmentMs }) => at + environmentMs),
      ) / 1000,
  };
}

export function memberAt({ group, stored }: ReadGroup, member: number): Episode {
  const episode = group.members[member];
  if (!episode) throw unknownEpisode(`member ${member} of group ${stored.group}`);
  return episode;
}

const isSame = (a: Episode['key'], b: Episode['key']): boolean =>
  a.step === b.step && a.group === b.group && a.member === b.member && a.split === b.split;

function turnsOf({ group }: ReadGroup, member: number): ShownTurn[] {
  const turns = roleGroups([group]).flatMap(({ role, members }) => {
    const { turns, episode } = members[member]!;
    const { advantages_K = [], advantages_T } = episode.credit?.[role] ?? {};
    let start = 0;
    return turns.map(({ transition, calls, reward }, k): ShownTurn => {
      const tokens = calls.reduce((sum, call) => sum + (isTrained(call) ? call.ids.length : 0), 0);
      start += tokens;
      return {
        role,
        calls: calls.map(({ id }) => id),
        ...(transition && {
          action: transition.action.slice(0, shownText),
          anchor: transition.anchor.slice(0, 200),
        }),
        valid: transition?.valid ?? true,
        reward: finite(reward),
        advantage: finite(advantages_K[k]),
        ...(advantages_T && { advantages: advantages_T.slice(start - tokens, start) }),
        environmentMs: transition?.environmentMs ?? 0,
        at: transition?.at ?? calls.at(-1)?.at ?? 0,
      };
    });
  });
  return turns.sort((a, b) => a.at - b.at);
}

/** Entropies that were scored for credit, by the call whose tokens they are of. */
function entropiesOf(group: Group, member: number): ReadonlyMap<number, readonly number[]> {
  const ofCalls = new Map<number, readonly number[]>();
  for (const { role, members } of roleGroups([group])) {
    const { turns, episode } = members[member]!;
    const entropies = episode.credit?.[role]?.entropies;
    if (entropies === undefined) continue;
    let start = 0;
    for (const { id, ids } of turns.flatMap(({ calls }) => calls.filter(isTrained))) {
      ofCalls.set(id, entropies.slice(start, start + ids.length));
      start += ids.length;
    }
  }
  return ofCalls;
}

function shownCall(
  call: Call,
  pieces: Pieces | undefined,
  entropies: readonly number[] | undefined,
): ShownCall {
  const ids = call.ids.subarray(0, mostTokens);
  const { id, parent, under, newPath, reply, problem } = call;
  return {
    id,
    ...(parent !== undefined && { parent }),
    ...(under !== undefined && { under }),
    conversation: call.conversation,
    role: call.role,
    by: call.by.kind === 'policy' ? call.by.name : `${call.by.kind} ${call.by.name}`,
    version: call.by.version,
    purpose: call.purpose,
    ...(newPath && { newPath }),
    sampling: allFinite({ ...call.sampling }),
    messages: call.messages.map(shownMessage),
    ...(pieces && ids.length > 0 && { pieces: pieces.of(ids) }),
    ids: Array.from(ids),
    logprobs: Array.from(call.logprobs.subarray(0, mostTokens), finite),
    ...(entropies && { entropies: entropies.slice(0, mostTokens).map(finite) }),
    surprise: finite(surpriseOf([call])),
    entropy: call.entropy === undefined ? null : finite(entropyOf([call])),
    tokens: call.ids.length,
    context: call.context.length,
    text: cutText(call.text),
    ...(reply?.reasoning && { reasoning: cutText(reply.reasoning) }),
    ...(reply && reply.toolCalls.length > 0 && { toolCalls: toolCallsOf(reply.toolCalls) }),
    ...(problem !== undefined && { problem: problem.slice(0, shownText) }),
    ...(call.choices && { choices: call.choices.length }),
    finish: call.finish,
    trainable: call.trainable,
    at: call.at,
    waitMs: call.waitMs,
    policyMs: call.policyMs,
  };
}

export function shownMessage({ role, content, reasoning, toolCalls = [] }: Message): ShownMessage {
  return {
    role,
    content: cutText(content),
    ...(reasoning && { reasoning: cutText(reasoning) }),
    ...(toolCalls.length > 0 && { toolCalls: toolCallsOf(toolCalls) }),
  };
}

const toolCallsOf = (
  calls: readonly { readonly name: string; readonly arguments: unknown }[],
): { name: string; arguments: string }[] =>
  calls.map((call) => ({
    name: call.name.slice(0, 200),
    arguments: (JSON.stringify(call.arguments) ?? '').slice(0, shownText),
  }));

/** Half a character at the cut is left out. */
export function cutText(text: string): CutText {
  if (text.length <= longText) return { text };
  return { text: text.slice(0, shownText).replace(/[\ud800-\udbff]$/, ''), whole: text.length };
}

/** Texts that a page asks more of, by where they stand: `calls/3/messages/0`, `calls/3/text`, `closing/agent/0`, `task`. */
export function textAt(read: ReadGroup, member: number, path: string): string {
  const episode = memberAt(read, member);
  const [list, first = '', second, third] = path.split('/');
  if (list === 'task') return typeof episode.task === 'string' ? episode.task : JSON.stringify(episode.task);
  if (list === 'closing') {
    const messages = Object.hasOwn(episode.closing ?? {}, first) ? episode.closing![first] : undefined;
    return messages?.[Number(second)]?.content ?? '';
  }
  const call = chainOf(read.group, episode).calls[Number(first)];
  if (list !== 'calls' || !call) throw unknownEpisode(`no text at ${path.slice(0, 80)}`);
  if (second === 'text') return call.text;
  return call.messages[Number(third)]?.content ?? '';
}
