/** From recorded calls to trajectories: sequences in which every prompt extends the previous prompt and completion. */

import type { Json } from '../../core/json.ts';
import type { Turn } from '../../core/trajectory.ts';
import type { RecordedCall, Untrainable } from './recorded-call.ts';

/**
 * Every call is in one trajectory. The first call that continues another stays in its trajectory; later ones (branches,
 * further choices) begin their own, with their whole prompt as context, so that no sampled token is trained twice.
 */
export function chainCalls(calls: readonly RecordedCall[]): RecordedCall[][] {
  const chains: RecordedCall[][] = [];
  const chainEndingWith = new Map<string, RecordedCall[]>();
  for (const call of calls) {
    const open = call.previous === undefined ? undefined : chainEndingWith.get(call.previous);
    if (open && call.previous !== undefined) {
      chainEndingWith.delete(call.previous);
      open.push(call);
      chainEndingWith.set(call.id, open);
      continue;
    }
    const chain = [call];
    chains.push(chain);
    chainEndingWith.set(call.id, chain);
  }
  return chains;
}

/** The turns of one episode, trajectory after trajectory: each begins where `extendsPrevious` is false. */
export function turnsOf(calls: readonly RecordedCall[]): Turn[] {
  return chainCalls(calls).flatMap((chain) =>
    chain.map((call, index): Turn => {
      const before = chain[index - 1];
      const shared = before ? before.promptIds.length + before.ids.length : 0;
      return {
        kind: 'act',
        anchor: call.anchor,
        messages: before ? call.fresh : call.messages,
        contextIds: call.promptIds.slice(shared),
        extendsPrevious: before !== undefined,
        ids: call.ids,
        logprobs: call.logprobs,
        sampled: call.untrainable === undefined,
        ...(call.untrainable && { untrainable: call.untrainable }),
        text: call.text,
        finish: call.untrainable === 'scripted' ? 'none' : call.finish,
        reward: 0,
        valid: call.valid,
        info: turnInfo(call),
        policyMs: call.policyMs,
        environmentMs: call.environmentMs,
      };
    }),
  );
}

function turnInfo({ id, model, reply }: RecordedCall): Json {
  return {
    call: id,
    model,
    ...(reply.problem !== undefined && { problem: reply.problem }),
  };
}

export function countUntrainable(calls: readonly RecordedCall[]): Partial<Record<Untrainable, number>> {
  const counts: Partial<Record<Untrainable, number>> = {};
  for (const { untrainable } of calls) {
    if (untrainable) counts[untrainable] = (counts[untrainable] ?? 0) + 1;
  }
  return counts;
}
