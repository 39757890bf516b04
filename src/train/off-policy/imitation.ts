/** Learning from episodes that are kept, whoever played them: some are imitated more than others, or their values learned. */

import { Rng } from '../../core/rng.ts';
import type { TokenRow } from '../../engine/engine.ts';
import type { Objective } from '../../objective/objective.ts';
import type { Replayed } from '../archive.ts';
import { GradientSteps } from '../gradient-steps.ts';
import type { Learn } from '../learn.ts';
import type { Learner } from '../learner.ts';
import { withSampler } from '../sampler-gap.ts';
import { updateOf } from './preferences.ts';
import { draw, remember } from './replay.ts';

export interface ReplayMethod {
  /** Which of the kept episodes may be drawn. Default: all. */
  readonly eligible?: (learner: Learner, kept: readonly Replayed[]) => readonly Replayed[];
  readonly rows: (learner: Learner, episodes: readonly Replayed[]) => Promise<TokenRow[]> | TokenRow[];
  readonly objective: (learner: Learner) => Objective;
  /** After every update, as target networks want it. */
  readonly afterwards?: (learner: Learner) => Promise<void>;
}

/** `replay.updates` steps, each on `replay.batch` episodes that are drawn anew. */
export function learnFromReplay(method: ReplayMethod): Learn {
  return async (learner, groups, moment, memory) => {
    const { config } = learner;
    const replay = remember(memory, groups, config);
    const kept = await learner.archive.recall(replay);
    const eligible = method.eligible?.(learner, kept) ?? kept;
    const objective = method.objective(learner);
    const rng = Rng.of('replay', config.seed, moment.step);
    const steps = new GradientSteps(learner, moment);
    // A policy that acts by its values as well samples from another distribution than the one that is trained.
    const played = learner.recipe.actsBy ? [] : groups.flatMap(({ members }) => members);
    const playedNow = new Set(played.map(({ id }) => id));
    for (let update = 0; update < config.replay.updates && eligible.length > 0; update++) {
      const episodes = draw(eligible, config.replay.batch, rng);
      const rows = withSampler(await method.rows(learner, episodes), episodes, playedNow);
      if (rows.length === 0) continue;
      await steps.take({ rows }, objective);
      await method.afterwards?.(learner);
    }
    const metrics = { 'replay/episodes': replay.length, 'replay/eligible': eligible.length };
    return updateOf(steps, { ...memory, replay }, metrics, 'no kept episode is to be learned from');
  };
}
