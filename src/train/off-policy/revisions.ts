/**
 * Revisions: of two episodes of a task that begin alike, the worse one up to where it goes wrong, then how the better one goes on.
 * Only what the policy is to do once it notices is learned; what went wrong is read.
 *
 *   they share s turns; the worse one goes wrong at the first turn c ≥ s through which episodes earn, on average, more than β less than
 *   the better one did
 *   prompt and completions:  worse 0 … c (read) · what it would have read next · revision + better s (learned) · better s + 1 … (learned)
 */

import type { Call } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { promptOf } from '../../core/sample.ts';
import { mean } from '../../core/statistics.ts';
import { actOf, isTrained, type Trajectory } from '../../core/trajectory.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import { renderCalls } from '../../synth/render-calls.ts';

export interface RevisionOptions {
  /** α: the least outcome of an episode that is imitated. */
  readonly alpha: number;
  /** β: by how much more the better of two earned. */
  readonly beta: number;
  /** Whether the better one must go on from the state in which the worse one is. */
  readonly sameState: boolean;
}

/** A pair and how it is spliced, in turns. */
export interface Splice {
  readonly worse: Trajectory;
  readonly better: Trajectory;
  /** The last turn that is taken of the worse one. */
  readonly cut: number;
  /** The first that is taken of the better one. */
  readonly join: number;
}

/** For each episode of a tree the better one with which it shares most, the best of these, where a pair can be spliced. */
export function splicesOf(
  members: readonly Trajectory[],
  { alpha, beta, sameState }: RevisionOptions,
): Splice[] {
  const plain = members.filter(isPlain).map((episode) => ({ episode, steps: stepsOf(episode) }));
  const worth = outcomesThrough(plain);
  return plain.flatMap(({ episode: worse, steps }): Splice[] => {
    const [best] = plain
      .filter(({ episode: { outcome } }) => outcome >= alpha && outcome - worse.outcome > beta)
      .map(({ episode, steps: others }) => ({ better: episode, shared: sharedSteps(steps, others) }))
      .sort((a, b) => b.shared - a.shared || b.better.outcome - a.better.outcome);
    if (!best) return [];
    const { better, shared } = best;
    // Its last turn is one at the latest: through it goes this episode alone.
    const cut = steps.findIndex((step, turn) => turn >= shared && better.outcome - worth.get(step)! > beta);
    const join = sameState ? turnAt(better, worse.turns[cut + 1]?.transition?.anchor, shared) : shared;
    return cut < 0 || join < 0 || join >= better.turns.length ? [] : [{ worse, better, cut, join }];
  });
}

/** The turn from a first one on that was taken in this state; -1: none. */
function turnAt({ turns }: Trajectory, anchor: string | undefined, from: number): number {
  if (anchor === undefined) return -1;
  return turns.findIndex(({ transition }, turn) => turn >= from && transition?.anchor === anchor);
}

/** Whether each turn is one act that goes on from the one before: a context that asks or cuts would have shown another past. */
function isPlain({ turns, calls }: Trajectory): boolean {
  const isOne = turns.every((turn, k) => {
    const act = actOf(turn);
    return (
      act &&
      turn.calls.length === 1 &&
      isTrained(act) &&
      act.kept === undefined &&
      (k === 0) === (act.parent === undefined)
    );
  });
  return isOne && turns.length > 0 && calls.length === turns.length;
}

/** Names of turns: what was read before, and what was written. */
function stepsOf({ turns, calls }: Trajectory): string[] {
  return turns.map((turn) => {
    const act = actOf(turn)!;
    return `${promptOf(act, calls).join()}>${act.ids.join()}`;
  });
}

/** The mean outcome of the episodes that took each turn. */
function outcomesThrough(
  episodes: readonly { readonly episode: Trajectory; readonly steps: readonly string[] }[],
): ReadonlyMap<string, number> {
  const outcomes = new Map<string, number[]>();
  for (const { episode, steps } of episodes) {
    for (const step of steps) outcomes.set(step, [...(outcomes.get(step) ?? []), episode.outcome]);
  }
  return new Map([...outcomes].map(([step, all]) => [step, mean(all)]));
}

function sharedSteps(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((step, turn) => step !== b[turn]);
  return differs < 0 ? a.length : differs;
}

/**
 * The revision as an episode to be learned from.
 *
 * @param said what is written before the first act of the better one, in the same completion
 */
export function revisionOf({ worse, better, cut, join }: Splice, renderer: Renderer, said = ''): Trajectory {
  const shown = worse.turns
    .slice(0, cut + 1)
    .map((turn): Call => ({ ...actOf(turn)!, trainable: 'left-out' }));
  const learned = better.turns.slice(join).map((turn): Call => actOf(turn)!);
  const [first] = learned;
  const noticing: Call = { ...withWords(first!, said, renderer), messages: messagesAfter(worse, cut) };
  const { tools } = better.episode;
  const linked = [...shown, noticing, ...learned.slice(1)].map((call, id): Call => {
    const { parts: _, kept: __, newPath: ___, parent: ____, ...own } = call;
    return { ...own, id, ...(id > 0 && { parent: id - 1 }) };
  });
  const calls = renderCalls({ calls: linked, tools: { ...worse.episode.tools, ...tools } }, renderer);
  return {
    ...better,
    id: `${worse.id}>${better.id}`,
    calls,
    turns: calls.map((call) => ({ transition: undefined, calls: [call], reward: 0 })),
  };
}

/** What the role read after its turn, or would have. */
function messagesAfter({ turns, episode, role }: Trajectory, turn: number): readonly Message[] {
  const next = turns[turn + 1];
  return (next && actOf(next)?.messages) ?? episode.closing?.[role] ?? [];
}

/** The act with words before it, token for token. With these it is none of what it was chosen among. */
function withWords(act: Call, said: string, { completionIds, stopIds }: Renderer): Call {
  const words = completionIds(said).filter((id) => !stopIds.includes(id));
  if (words.length === 0) return act;
  const { choices: _, top: __, entropy: ___, ...own } = act;
  return {
    ...own,
    ids: Int32Array.of(...words, ...act.ids),
    text: `${said}${act.text}`,
    logprobs: new Float32Array(words.length + act.ids.length),
  };
}
