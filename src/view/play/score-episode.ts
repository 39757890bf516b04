/** Entropies of a recorded episode under a checkpoint, for runs that stored none: its tokens are read, and nothing is sampled. */

import { samplesOfTrajectory } from '../../core/sample.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { scoredRows } from '../../engine/token-batch.ts';
import { openModel } from '../../run/open-model.ts';
import { version } from '../../run/version.ts';
import { finite } from '../server/finite.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { PlayRequest } from './messages.ts';
import type { Played } from './play-episode.ts';
import { recordedBefore } from './recorded.ts';

type Scored = Pick<Played, 'root' | 'tell' | 'signal'> & {
  readonly request: PlayRequest & Required<Pick<PlayRequest, 'from'>>;
};

/** @throws TurnwiseError those of opening a checkpoint, of reading an episode, and of an engine that gives no entropies */
export async function scoreEpisode({ root, request, tell, signal }: Scored): Promise<void> {
  const run = new RunsFolder({ root, version }).find(request.run);
  const { group } = await recordedBefore(run, request.from);
  const { checkpoint } = request;
  const { engine, file, step } = await openModel({
    root,
    name: run.name,
    ...(checkpoint !== undefined && { step: checkpoint }),
    signal,
  });
  try {
    const samples = roleGroups([group]).flatMap(({ members }) =>
      samplesOfTrajectory(members[request.from.member]!, ({ by }) => by.kind === 'policy'),
    );
    const { temperature } = file.config.rollout;
    const { entropies = [] } = await engine.score(scoredRows(samples), { temperature, entropies: true });
    const byCall = new Map<number, (number | null)[]>();
    for (const [row, { mask_T, call_T }] of samples.entries()) {
      for (const [token, marked] of mask_T.entries()) {
        if (marked === 0) continue;
        const own = byCall.get(call_T[token]!) ?? [];
        own.push(finite(entropies[row]?.[token]));
        byCall.set(call_T[token]!, own);
      }
    }
    for (const [call, values] of byCall) tell({ kind: 'entropies', call, entropies: values });
    tell({ kind: 'done', checkpoint: step });
  } finally {
    await engine.close();
  }
}
