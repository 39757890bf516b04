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

/** How many of the ids write the thought; a token that reaches into the action is the action's. */
export function thoughtLength(
  ids: ArrayLike<number>,
  { text }: Pick<Renderer, 'text'>,
  { thought }: Pick<ActionProtocol, 'thought'>,
): number {
  // An author's code, outside any episode: a thought that it cannot find has no tokens.
  const found: unknown = tried(() => thought?.(text(ids)), undefined);
  const written = typeof found === 'string' ? found.length : 0;
  let length = 0;
  const list = Array.from(ids);
  while (length < list.length && text(list.slice(0, length + 1)).length <= written) length++;
  return length;
}

/**
 * What is to be imitated of some episodes: a row for each thought that was corrected, with what came before it as the policy
 * saw it. `imitation` is on the tokens of the correction, a share of all of them; no policy gradient sees the row.
 */
export function correctionRows(episodes: readonly Trajectory[], reading: Reading): TokenRow[] {
  const corrections = episodes.flatMap((episode) => correctionsOf(episode, reading));
  const tokens = corrections.reduce((total, { thought }) => total + thought.length, 0);
  return corrections.map(({ prompt, thought }) => {
    const ids_T = Int32Array.of(...prompt, ...thought);
    const nothing = new Float32Array(ids_T.length);
    const mask_T = Uint8Array.from(ids_T, (_, token) => (token < prompt.length ? 0 : 1));
    const imitation = Float32Array.from(mask_T, (bit) => bit / tokens);
    const channels = { weight: nothing, advantages: nothing, oldLogprobs: nothing, returns: nothing };
    return { ids_T, mask_T, channels: { ...channels, oldValues: nothing, valueWeight: nothing, imitation } };
  });
}

interface Correction {
  readonly prompt: Int32Array;
  readonly thought: readonly number[];
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
  return turns.flatMap((turn) => {
    const corrected = correctedThought(turn);
    const act = actOf(turn);
    if (corrected === undefined || act === undefined) return [];
    const prompt = promptOf(act, calls);
    const { text } = act;
    // Together with the action that the policy took, since a tokenizer may join what meets.
    const action = text.slice(protocol.thought?.(text).length ?? 0);
    const written = renderer.completionIds(`${corrected} ${action}`);
    const thought = written
      .slice(0, thoughtLength(written, renderer, protocol))
      .filter((id) => !renderer.stopIds.includes(id));
    const fits = prompt.length + thought.length <= contextLength;
    return fits && thought.length > 0 ? [{ prompt, thought }] : [];
  });
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
