/** A token sequence as the policy saw it, with the tokens it sampled marked. The unit of training. */

import type { Trajectory, Turn } from './trajectory.ts';

export interface Sample {
  readonly trajectoryId: string;
  /** T token ids: prompt, completions and observations in the order the policy saw them. */
  readonly ids_T: Int32Array;
  /** 1 exactly on tokens the policy sampled. */
  readonly mask_T: Uint8Array;
  /** Log-probability at sampling time on masked tokens, 0 elsewhere. */
  readonly logprobs_T: Float32Array;
  /** Index of the turn that sampled the token, -1 elsewhere. */
  readonly turn_T: Int32Array;
}

/**
 * The samples of a trajectory: one while every prompt extends the previous prompt + completion exactly, and a new one
 * wherever that prefix property breaks. Each sampled token appears with mask 1 in exactly one sample.
 *
 * `learned` chooses the turns whose tokens are marked: those the policy sampled, unless demonstrations are imitated.
 */
export function buildSamples(
  trajectory: Trajectory,
  learned: (turn: Turn) => boolean = (turn) => turn.sampled,
): Sample[] {
  const samples: Sample[] = [];
  let open: { ids: number[]; mask: number[]; logprobs: number[]; turn: number[] } | undefined;
  const close = (): void => {
    if (open?.mask.includes(1)) {
      samples.push({
        trajectoryId: trajectory.id,
        ids_T: Int32Array.from(open.ids),
        mask_T: Uint8Array.from(open.mask),
        logprobs_T: Float32Array.from(open.logprobs),
        turn_T: Int32Array.from(open.turn),
      });
    }
    open = undefined;
  };
  for (const [index, turn] of trajectory.turns.entries()) {
    if (!turn.extendsPrevious) close();
    open ??= { ids: [], mask: [], logprobs: [], turn: [] };
    for (const id of turn.contextIds) {
      open.ids.push(id);
      open.mask.push(0);
      open.logprobs.push(0);
      open.turn.push(-1);
    }
    const marked = learned(turn);
    for (const [position, id] of turn.ids.entries()) {
      open.ids.push(id);
      open.mask.push(marked ? 1 : 0);
      open.logprobs.push(marked ? turn.logprobs[position]! : 0);
      open.turn.push(marked ? index : -1);
    }
  }
  close();
  return samples;
}
