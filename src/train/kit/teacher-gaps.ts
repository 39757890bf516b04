/** How much likelier the policy wrote each of its tokens than a teacher would have: the reverse KL, one token at a time. */

import type { TurnFacts } from '../../core/facts.ts';
import { candidatesOf, numbersByTurn } from './batch.ts';
import type { FoundFacts } from './turn-facts.ts';

/**
 * `teacherGaps` of every turn: for each sampled token its log-probability when it was sampled, minus the teacher's after the same
 * prompt, at the same temperature and among the same choices. The teacher reads the ids of the policy; it writes nothing.
 *
 * Source: "On-Policy Distillation", Thinking Machines Lab, 2025.
 *
 * @example
 * defineRecipe({ name: 'taught', needs: { teacher: true }, turnFacts: teacherGaps, settings: { credit: { method: 'teacher-kl' } } });
 *
 * @throws TurnwiseError `teacher-missing`
 */
export const teacherGaps: FoundFacts = {
  fields: ['turns[].teacherGaps'],
  async find(trainer, trajectories) {
    const candidates = candidatesOf(trajectories);
    const all = candidates.flatMap(({ samples }) => samples);
    const { logprobs } = all.length > 0 ? await trainer.teacher().score(all) : { logprobs: [] };
    let next = 0;
    return candidates.map((candidate) => {
      const gaps = candidate.samples.map(({ logprobs_T }) => {
        const teacher_T = logprobs[next++]!;
        return logprobs_T.map((logprob, token) => logprob - teacher_T[token]!);
      });
      const ofTurn = numbersByTurn(candidate, gaps);
      return candidate.trajectory.turns.map((_, k): TurnFacts => ({ teacherGaps: ofTurn.get(k) ?? [] }));
    });
  },
  figures(facts_IK) {
    const gaps = facts_IK.flat().flatMap((facts) => facts.teacherGaps ?? []);
    const sum = gaps.reduce((total, gap) => total + gap, 0);
    return { 'distill/reverse_kl': gaps.length === 0 ? 0 : sum / gaps.length };
  },
};
