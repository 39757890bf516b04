/**
 * GTR: while the policy plays, a corrector reads each thought in the state in which it was thought; what it puts in the
 * place of a wrong one is imitated, beside PPO on what was sampled.
 *
 * Source: arXiv 2503.08525; the released code (GTR_gymcards), where the two disagree.
 * 1. Imitated is all of a turn but its action, as in the code, and the end of the turn; a thought that is not imitated to its end
 *    runs on. Right thoughts are not imitated, as in the code. Thoughts without an action are corrected too; the code passes
 *    them over.
 * 2. The ratio of a token is clipped, not that of the turn. The code weighs the log-probabilities of thoughts within the
 *    ratio of the turn; here `thoughtWeight` is on the advantages of their tokens.
 * 3. Corrections are kept for `replayAge` steps, those of the code for ever: checkpoints hold them.
 * 4. The code cuts episodes short whose state cannot lead to success any more, and rewards the form of an answer: an
 *    environment may do both, the recipe does neither.
 */

import { z } from 'zod';
import type { Episode, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { Rng } from '../../core/rng.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { checkedText } from '../../env/replies.ts';
import { combine } from '../../objective/contract/combine.ts';
import { criticLoss } from '../../objective/critic/critic-loss.ts';
import { atTargets, ofValueHead } from '../../objective/critic/value.ts';
import { gtr } from '../../objective/imitation/imitation-mix.ts';
import type { Policy } from '../../policy/policy.ts';
import { Boundary } from '../../rollout/boundary.ts';
import { type CollectOptions, collectGroups, type GroupToPlay } from '../../rollout/collect.ts';
import { type Learn, learning } from '../kit/learn.ts';
import { clipOf } from '../kit/policy-objective.ts';
import { learnBeside, nothingBeside, withConstant } from './mixtures.ts';
import { draw, keptAs, playedNow, type Remembered, recent } from './replay.ts';
import { CORRECTION, correctedThought, correctionRows, weighThoughts } from './thoughts.ts';

export const gtrOptions = z.strictObject({
  ...gtr.schema.omit({ policy: true }).shape,
  thoughtWeight: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('Share of its advantage that a turn’s thought has in the policy gradient; its action has all'),
  replayAge: z.int().min(1).default(10).describe('Steps for which a correction may be imitated'),
});

/** Play every group's episodes, and ask the corrector about each thought before its action is taken. */
export async function playCorrected(
  requests: readonly GroupToPlay[],
  options: CollectOptions,
): Promise<Group[]> {
  const corrections = new Map<string, (string | undefined)[]>();
  const { policy } = options;
  const asking: Policy = {
    get author() {
      return policy.author;
    },
    complete: async (request) => {
      const completion = await policy.complete(request);
      const { key, messages, session } = request;
      const name = keyText(key);
      const ofEpisode = corrections.get(name) ?? [];
      corrections.set(name, ofEpisode);
      const rng = Rng.of('thought', request.seedKey);
      const { protocol } = options.world;
      const where = `correcting ${name} turn ${ofEpisode.length}`;
      const correction = await inTime(options, where, async () => {
        const thought = protocol.thought
          ? checkedText('protocol.thought()', protocol.thought(completion.text)).trim()
          : '';
        const corrected = await options.world.correctThought?.({ session, messages, thought, rng });
        const right = checkedText('correctThought()', corrected ?? thought);
        return right === thought ? undefined : right;
      });
      ofEpisode.push(correction);
      return completion;
    },
    release: (conversation) => policy.release?.(conversation),
  };
  const groups = await collectGroups(requests, { ...options, policy: asking });
  return groups.map((group) => ({
    ...group,
    members: group.members.map((episode) =>
      withCorrections(episode, corrections.get(keyText(episode.key)) ?? []),
    ),
  }));
}

/** A corrector that fails or hangs ends the episode: the corrector is its grader, and no thought of it is judged without. */
async function inTime<T>(
  { signal, watch, turnTimeoutMs }: CollectOptions,
  what: string,
  work: () => Promise<T> | T,
): Promise<T> {
  const boundary = new Boundary(signal, watch);
  try {
    return await boundary.step('grader', what, turnTimeoutMs, work, false);
  } finally {
    boundary.close();
  }
}

function withCorrections(episode: Episode, corrections_K: readonly (string | undefined)[]): Episode {
  const transitions = episode.transitions.map((transition, k) => {
    const thought = corrections_K[k];
    return thought === undefined
      ? transition
      : { ...transition, notes: { ...transition.notes, [CORRECTION]: thought } };
  });
  return { ...episode, transitions };
}

const isCorrected = ({ turns }: Trajectory): boolean =>
  turns.some((turn) => correctedThought(turn) !== undefined);

/** PPO with its critic on the episodes of the step; beside it corrections, drawn from those of all steps that are kept. */
export const learnGtr: Learn = learning<Remembered>((config) => async (trainer, groups, { step, memory }) => {
  const { thoughtWeight, replayAge, ...options } = gtrOptions.parse(config.objective.options);
  const { valueWarmup } = config.objective;
  const { candidates, samples_I } = await trainer.credit(groups);
  const samples = candidates.flatMap(({ trajectory }, index) =>
    samples_I[index]!.map((item) => weighThoughts(item, trajectory, trainer, thoughtWeight)),
  );
  const episodes = groups.flatMap(({ members }) => members);
  const kept = [
    ...recent(memory.kept, step, replayAge),
    ...playedNow(groups).filter(isCorrected).map(keptAs),
  ];
  const recalled = await trainer.recall(kept);
  const warmingUp = step <= valueWarmup;
  const value = atTargets(criticLoss(config.objective));
  await learnBeside(
    trainer,
    config,
    samples,
    warmingUp ? ofValueHead(value) : combine([gtr({ ...options, policy: clipOf(config.objective) }), value]),
    (fresh, rng) => {
      const drawn = warmingUp ? [] : draw(recalled, config.replay.batch, rng);
      return [...withConstant(fresh, 'imitation', 0), ...correctionRows(drawn, trainer)];
    },
  );
  const turns = episodes.flatMap((episode) => episode.turns);
  const wrong = turns.filter((turn) => correctedThought(turn) !== undefined);
  return {
    memory: { kept },
    keep: kept,
    metrics: {
      'thoughts/corrected_share': wrong.length / Math.max(1, turns.length),
      'replay/episodes': kept.length,
    },
    why: nothingBeside,
  };
});
