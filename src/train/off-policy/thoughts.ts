/** Thoughts before actions, as tokens: which of them write the thought, and what a corrected one is as a row to imitate. */

import { tried } from '../../core/safe-text.ts';
import { promptOf } from '../../core/sample.ts';
import { actOf, type Trajectory, type Turn } from '../../core/trajectory.ts';
import type { TokenRow } from '../../engine/token-batch.ts';
import type { ActionProtocol } from '../../env/protocol.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import type { CreditedSample } from '../kit/batch.ts';
import type { Trainer } from '../kit/trainer.ts';

/** How the policy writes, and how much it can read. */
type Reading = Pick<Trainer, 'renderer' | 'protocol' | 'contextLength'>;

/**
 * How many of the ids write the thought and what ends it, the opening of the action, such as `<action>`; a token that reaches
 * into the action is the action's.
 */
export function thoughtLength(
  ids: ArrayLike<number>,
  { text }: Pick<Renderer, 'text'>,
  protocol: Pick<ActionProtocol, 'thought' | 'format'>,
): number {
  const all = text(ids);
  // An author's code, outside any episode: a thought that it cannot find has no tokens.
  const found: unknown = tried(() => protocol.thought?.(all), undefined);
  if (typeof found !== 'string') return 0;
  const [opening] = formOf(protocol);
  const written = found.length + (all.startsWith(opening, found.length) ? opening.length : 0);
  let length = 0;
  const list = Array.from(ids);
  while (length < list.length && text(list.slice(0, length + 1)).length <= written) length++;
  return length;
}

/** What a protocol writes before and after the words of an action; nothing where that depends on the action. */
function formOf({ format }: Pick<ActionProtocol, 'format'>): readonly [opening: string, closing: string] {
  const [before = '', after] = String(tried(() => format(ANY), '')).split(ANY);
  return after === undefined ? ['', ''] : [before.trimEnd(), after.trimStart()];
}

const ANY = 'an-action';

/** The text, or nothing where the vocabulary has no words for it. */
function writable(text: string, renderer: Pick<Renderer, 'text' | 'completionIds'>): string {
  return renderer.text(renderer.completionIds(text)).trim() === text ? text : '';
}

/**
 * What is to be imitated of some episodes: a row for each thought that was corrected, with what came before it as the policy
 * saw it. `imitation` is on all that the row writes but the action, a share of all such tokens; no policy gradient sees the row.
 */
export function correctionRows(episodes: readonly Trajectory[], reading: Reading): TokenRow[] {
  const corrections = episodes.flatMap((episode) => correctionsOf(episode, reading));
  const tokens = corrections.reduce((total, { imitated }) => total + imitated.filter(Boolean).length, 0);
  return corrections.map(({ prompt, written, imitated }) => {
    const ids_T = Int32Array.of(...prompt, ...written);
    const nothing = new Float32Array(ids_T.length);
    const mask_T = Uint8Array.from(ids_T, (_, token) => (imitated[token - prompt.length] ? 1 : 0));
    const imitation = Float32Array.from(mask_T, (bit) => bit / tokens);
    const channels = { weight: nothing, advantages: nothing, oldLogprobs: nothing, returns: nothing };
    return { ids_T, mask_T, channels: { ...channels, oldValues: nothing, valueWeight: nothing, imitation } };
  });
}

interface Correction {
  readonly prompt: Int32Array;
  /** The right thought, and the action that the policy took. */
  readonly written: readonly number[];
  /** Which of them are imitated: not the action. */
  readonly imitated: readonly boolean[];
}

/** The note of a transition that says what should have been thought before its action. */
export const CORRECTION = 'gtr/thought';

/** What should have been thought, where a corrector found the thought of the turn wrong. */
export function correctedThought({ transition }: Turn): string | undefined {
  const note = transition?.notes?.[CORRECTION];
  return typeof note === 'string' ? note : undefined;
}

function correctionsOf(
  { turns, calls }: Trajectory,
  { renderer, protocol, contextLength }: Reading,
): Correction[] {
  const [opening, closing] = formOf(protocol);
  return turns.flatMap((turn) => {
    const corrected = correctedThought(turn);
    const act = actOf(turn);
    if (corrected === undefined || act === undefined) return [];
    const prompt = promptOf(act, calls);
    const { text } = act;
    const isActing = protocol.parse(renderer.answer(text)).ok;
    const action = isActing ? text.slice(protocol.thought?.(text).length ?? 0) : writable(opening, renderer);
    const all = renderer.completionIds(`${corrected} ${action}`);
    const begin = thoughtLength(all, renderer, protocol);
    const end = isActing ? all.length - closingLength(all, renderer, closing) : begin;
    const written = isActing ? all : all.slice(0, begin).filter((id) => !renderer.stopIds.includes(id));
    const imitated = written.map((_, token) => token < begin || token >= end);
    const fits = prompt.length + written.length <= contextLength;
    return fits && begin > 0 ? [{ prompt, written, imitated }] : [];
  });
}

/** How many of the last ids write what closes the action and ends the turn, and nothing else. */
function closingLength(ids: readonly number[], { text }: Pick<Renderer, 'text'>, closing: string): number {
  const all = text(ids).trimEnd();
  if (closing === '' || !all.endsWith(closing)) return 0;
  const acted = all.slice(0, -closing.length).trimEnd().length;
  let first = ids.length;
  while (first > 0 && text(ids.slice(0, first - 1)).length >= acted) first--;
  return ids.length - first;
}

/** The sample with so much of the advantages of thoughts. */
export function weighThoughts(
  item: CreditedSample,
  { turns }: Trajectory,
  { renderer, protocol }: Pick<Reading, 'renderer' | 'protocol'>,
  weight: number,
): CreditedSample {
  if (weight === 1) return item;
  const left = new Map(
    turns.flatMap((turn) => {
      const act = actOf(turn);
      // Where no action was found, all that was written is answered for.
      if (act === undefined || !protocol.parse(renderer.answer(act.text)).ok) return [];
      return [[act.id, thoughtLength(act.ids, renderer, protocol)] as const];
    }),
  );
  const advantages_T = item.advantages_T.map((advantage, token) => {
    const call = item.sample.call_T[token]!;
    const more = left.get(call) ?? 0;
    if (more <= 0) return advantage;
    left.set(call, more - 1);
    return weight * advantage;
  });
  return { ...item, advantages_T };
}
