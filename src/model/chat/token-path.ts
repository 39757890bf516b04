/**
 * Paths of tokens: what the policy saw and sampled, a prompt and its completion. The prompt of a call is compared with the
 * paths so far, piece by piece and then token by token: what it shares is kept, and only the rest is new.
 */

import type { Call, NewPath } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { GrowingList, type Sequence } from './growing-list.ts';
import {
  type Completion,
  isCompletion,
  type Offered,
  type Piece,
  type Renderer,
  type Said,
} from './renderer.ts';
import { handled, TokenRuns } from './token-runs.ts';

/** What a call goes on from. */
interface Trunk {
  /** The call that it ends with. */
  readonly call: number;
  /** Prompt and completion; none where the model does not tell. */
  readonly tokens: TokenRuns;
  readonly said: GrowingList<Said>;
  /**
   * How much of `said` the paths had of which this one is a continuation without a cut, and it itself at last. More is not
   * kept of them: they are its beginnings, and any of them may be gone on from again.
   */
  readonly stops: GrowingList<number>;
}

export interface TokenPath extends Trunk {
  /** Pieces of the conversation, and the token that each ends before. */
  readonly pieces: GrowingList<Piece>;
  readonly ends: GrowingList<number>;
  /** Of the pieces of its prompt, where the renderer knows no ids. */
  readonly size: number;
}

/** The prompt of a call: the first `kept` tokens of an earlier path, then `context`. */
export interface Prompt {
  /** The path that it has most in common with. Absent: it has nothing in common with any. */
  readonly path?: Trunk;
  readonly kept: number;
  readonly context: Int32Array;
  /** Whether nothing of the path is cut off. */
  readonly extends: boolean;
  /** Whether there is no path before it. */
  readonly first: boolean;
  readonly said: GrowingList<Said>;
  readonly pieces: GrowingList<Piece>;
  readonly ends: GrowingList<number>;
  /** Of its pieces, where the renderer knows no ids. */
  readonly size: number;
  /** In tokens; an estimate where the renderer knows no ids. */
  readonly length: number;
}

/** How many tokens both begin with. */
export function sharedTokens(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  handled.tokens += length;
  return length;
}

/**
 * The prompt of a conversation after these paths. A conversation that goes on from a call hangs on its path; any other
 * hangs on the path with which it shares most, the latest of equals, and on its beginning where that is the whole path of an earlier call.
 *
 * @param paths none of which goes on from another
 */
export function promptAfter(
  paths: readonly TokenPath[],
  conversation: Sequence<Said>,
  renderer: Renderer,
  offered?: Offered,
): Prompt {
  const said = GrowingList.of(conversation);
  const { candidates, pieces, known } = piecesAfter(paths, said, renderer, offered);
  let best: TokenPath | undefined;
  let most = 0;
  for (const path of candidates) {
    const shared = known ?? sharedPieces(pieces, path.pieces);
    if (shared > 0 && shared >= most) [best, most] = [path, shared];
  }
  const before = best ? best.ends.upTo(most) : GrowingList.of<number>();
  const from = before.at(-1) ?? 0;
  const ids: number[] = [];
  const added: number[] = [];
  let size = known === undefined ? 0 : sizeOf(candidates[0]!, renderer);
  for (let index = known === undefined ? 0 : most; index < pieces.length; index++) {
    const piece = pieces.at(index)!;
    size += renderer.size?.(piece) ?? 0;
    if (index < most) continue;
    const own = renderer.ids(piece);
    for (let at = 0; at < own.length; at++) ids.push(own[at]!);
    added.push(from + ids.length);
  }
  const ends = before.with(...added);
  const length = renderer.size ? Math.ceil(size) : from + ids.length;
  handled.tokens += ids.length;
  const first = paths.length === 0;
  // Written out: a prompt is made every turn, and a spread takes ten times as long.
  const promptOf = (kept: number, context: Int32Array, whole: boolean, path?: Trunk): Prompt => {
    const prompt = { kept, context, extends: whole, first, said, pieces, ends, size, length };
    return path ? Object.assign(prompt, { path }) : prompt;
  };
  // Different pieces may begin with the same tokens, also where no piece is shared.
  let kept = from + (best ? best.tokens.agrees(from, ids) : 0);
  if (best === undefined) {
    for (const path of candidates) {
      const shared = path.tokens.agrees(0, ids);
      if (shared > 0 && shared >= kept) [best, kept] = [path, shared];
    }
  }
  if (best === undefined) return promptOf(0, new Int32Array(ids), false);
  const context = new Int32Array(kept === from ? ids : ids.slice(kept - from));
  const trunk = kept === best.tokens.length && kept > 0 ? best : endingAt(best, kept, most);
  return trunk
    ? promptOf(kept, context, true, trunk)
    : promptOf(kept, context, false, kept === 0 ? undefined : best);
}

/** The path, or an earlier one that it goes on from, that has so many tokens; without any, so many pieces. */
function endingAt(path: TokenPath, tokens: number, pieces: number): Trunk | undefined {
  const { said, stops, ends } = path;
  let piece = path.pieces.length;
  for (let stop = stops.length; stop > 0; stop--) {
    const call = callAt(path, stop);
    do piece--;
    while (piece >= 0 && !isWhole(path.pieces.at(piece)!, call));
    const length = ends.at(piece) ?? 0;
    if (piece < 0 || length < tokens) return undefined;
    if (length > 0 ? length > tokens : piece + 1 !== pieces) continue;
    if (stop === stops.length) return path;
    const own = stops.upTo(stop);
    return { call, tokens: path.tokens.upTo(length), said: said.upTo(own.at(-1)!), stops: own };
  }
  return undefined;
}

/** The call that a path ended with at one of its stops, counted from 1. */
const callAt = ({ said, stops }: Trunk, stop: number): number =>
  (said.at(stops.at(stop - 1)! - 1) as Completion).id;

/** Whether a piece is all of a completion. */
const isWhole = (piece: Piece, call: number): boolean =>
  typeof piece !== 'string' && isCompletion(piece) && piece.id === call;

/**
 * The pieces of a conversation, and the paths that it may hang on. A conversation that shares its list with the path of its
 * last completion is made of the pieces of that path, `known` of them, and new ones.
 */
function piecesAfter(
  paths: readonly TokenPath[],
  said: GrowingList<Said>,
  renderer: Renderer,
  offered: Offered | undefined,
): {
  readonly candidates: readonly TokenPath[];
  readonly pieces: GrowingList<Piece>;
  readonly known?: number;
} {
  const { last, fresh } = lastOf(said);
  const own = last && paths.find(({ call }) => call === last.id);
  if (own && renderer.more && said.goesOnFrom(own.said) && own.said.at(-1) === last) {
    const more = renderer.more(last, fresh);
    const pieces = more === fresh && own.pieces === own.said ? said : own.pieces.with(...more);
    return { candidates: [own], pieces, known: own.pieces.length };
  }
  const list = said.toArray();
  const pieces = renderer.pieces(list, offered, own?.pieces.toArray());
  return {
    candidates: own && goesOn(said, own) ? [own] : paths,
    pieces: pieces === list ? said : GrowingList.of(pieces),
  };
}

/** The last completion, and what was said after it. */
function lastOf(said: GrowingList<Said>): {
  readonly last: Completion | undefined;
  readonly fresh: readonly Said[];
} {
  const fresh: Said[] = [];
  for (let index = said.length - 1; index >= 0; index--) {
    const one = said.at(index)!;
    if (isCompletion(one)) return { last: one, fresh: fresh.reverse() };
    fresh.push(one);
  }
  return { last: undefined, fresh };
}

/** Of the pieces of a path, its completion included. */
const sizeOf = ({ size, pieces }: TokenPath, renderer: Renderer): number =>
  size + (renderer.size?.(pieces.at(-1)!) ?? 0);

/** All of its tokens. */
export function idsOfPrompt({ path, kept, context }: Prompt): Int32Array {
  if (path === undefined || kept === 0) return context;
  const ids = path.tokens.toArray(kept, context.length);
  ids.set(context, kept);
  return ids;
}

/**
 * How a prompt hangs on its parent's path, where its renderer is not known here: it extends it, or keeps its beginning for a
 * reason. Where there are no ids (a scripted teacher, a black box) the messages alone decide. A prompt that was rendered anew
 * although nothing was changed (a template drops old reasoning, say) counts as rewritten.
 */
export function hangOn(
  path: Int32Array | undefined,
  prompt: Int32Array,
  change: NewPath | undefined,
): Pick<Call, 'kept' | 'newPath' | 'context'> {
  if (path === undefined) return { context: prompt };
  const kept = sharedTokens(prompt, path);
  const extended = kept === path.length && (path.length > 0 || change === undefined);
  const context = prompt.slice(kept);
  return extended ? { context } : { kept, newPath: change ?? 'rewritten', context };
}

/** How a call with this prompt hangs together with those before it. */
export function linkOf(
  { path, kept, extends: whole, said, first }: Prompt,
  why: NewPath,
): Pick<Call, 'parent' | 'kept' | 'newPath'> {
  if (path === undefined) return first ? {} : { newPath: why };
  if (whole) return { parent: path.call };
  return { parent: path.call, kept, newPath: goesOn(said, path) ? 'rewritten' : why };
}

/** Whether a conversation has all that was said up to a call, and its completion. */
function goesOn(said: GrowingList<Said>, path: Trunk): boolean {
  if (said.length <= path.said.length) return false;
  return said.goesOnFrom(path.said) || sharedPieces(said, path.said) === path.said.length;
}

/** The path after a completion of `prompt`. */
export function pathAfter(prompt: Prompt, completion: Completion): TokenPath {
  const { path, kept, context, size } = prompt;
  const tokens = (path?.tokens.upTo(kept) ?? TokenRuns.none).with(context, completion.ids);
  const said = prompt.said.with(completion);
  // The same tokens may have been said in other parts.
  const isCut = path === undefined || !prompt.extends || !goesOn(said, path);
  return {
    call: completion.id,
    tokens,
    pieces: prompt.pieces === prompt.said ? said : prompt.pieces.with(completion),
    ends: prompt.ends.with(tokens.length),
    said,
    size,
    stops: (isCut ? GrowingList.of<number>() : path.stops).with(said.length),
  };
}

/** The paths with one more, which takes the place of the one that it goes on from. */
export function withPath(paths: readonly TokenPath[], path: TokenPath): TokenPath[] {
  const { length } = path.stops;
  const before = length > 1 ? callAt(path, length - 1) : undefined;
  return [...paths.filter(({ call }) => call !== before), path];
}

function sharedPieces(a: GrowingList<Piece>, b: GrowingList<Piece>): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && isSame(a.at(shared)!, b.at(shared)!)) shared++;
  handled.items += shared;
  return shared;
}

function isSame(a: Piece, b: Piece): boolean {
  if (a === b) return true;
  if (typeof a === 'string' || typeof b === 'string') return false;
  if ('of' in a) return 'of' in b && a.of.id === b.of.id && a.from === b.from && a.to === b.to;
  if (isCompletion(a)) return isCompletion(b) && a.id === b.id;
  return !isCompletion(b) && !('of' in b) && sameMessage(a, b);
}

function sameMessage(a: Message, b: Message): boolean {
  return (
    a.role === b.role &&
    a.content === b.content &&
    a.reasoning === b.reasoning &&
    a.toolCallId === b.toolCallId &&
    (a.toolCalls === b.toolCalls || JSON.stringify(a.toolCalls) === JSON.stringify(b.toolCalls))
  );
}
