/** One episode that somebody steers: a checkpoint is opened, plays when it is told to, and says how sure it was. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { playableTask } from '../../env/tasks/split.ts';
import type { Completion, CompletionRequest } from '../../policy/policy.ts';
import { playEpisodes } from '../../rollout/collect.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
import { version } from '../../run/version.ts';
import { playOptions } from '../../train/kit/learner.ts';
import { taskText } from '../page/group/task-text.ts';
import { shownMessage } from '../server/episode.ts';
import { allFinite, finite } from '../server/finite.ts';
import { type Pieces, piecesOf } from '../server/pieces.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { PlayEvent, PlayMove, PlayRequest } from './messages.ts';
import { notPure, recordedBefore } from './recorded.ts';
import { steeredPolicy } from './steered-policy.ts';

const likeliest = 5;

export interface Played {
  readonly root: string;
  readonly request: PlayRequest;
  tell(event: PlayEvent): void;
  /** What to do now. */
  move(): Promise<PlayMove>;
  readonly signal: AbortSignal;
}

/** @throws TurnwiseError `play-agent`, `play-impure`, those of opening a checkpoint and of reading an episode */
export async function playEpisode({ root, request, tell, move, signal }: Played): Promise<void> {
  const run = new RunsFolder({ root, version }).find(request.run);
  const past = request.from && (await recordedBefore(run, request.from));
  const { checkpoint } = request;
  const learner = await openCheckpoint({
    root,
    name: run.name,
    ...(checkpoint !== undefined && { step: checkpoint }),
    signal,
  });
  try {
    const { world, renderer } = learner;
    if (learner.playWith) throw notSteered(world.name);
    if (past && !world.pure) throw notPure(world.name);
    const usual = playOptions(learner, signal);
    const pieces = piecesOf(run.path);
    const task = past?.task ?? playableTask(world, request.split, request.task);
    const opened = checkpoint ?? run.checkpoints().at(-1) ?? 0;
    tell({ kind: 'open', world: world.name, task: taskText(task as Json), checkpoint: opened });
    const seen = new Map<string, number>();
    const stateOf = (asked: CompletionRequest, turn: number, replayed: boolean): PlayEvent => {
      const { conversation, messages, session, role } = asked;
      const fresh = messages.slice(seen.get(conversation) ?? 0).filter((one) => one.role !== 'assistant');
      seen.set(conversation, messages.length);
      const picture = session.render?.();
      const actions = session.actions?.();
      return {
        kind: 'state',
        turn,
        role,
        ...(picture !== undefined && { picture: picture.slice(0, 8000) }),
        messages: fresh.map(shownMessage),
        ...(actions && { actions: actions.slice(0, 64) }),
        form: world.protocol.format('ACTION'),
        replayed,
      };
    };
    let plays = false;
    const policy = steeredPolicy({
      policy: usual.policy,
      renderer,
      recorded: past?.turns ?? [],
      top: likeliest,
      ask: async (asked, turn) => {
        tell(stateOf(asked, turn, false));
        if (plays) return { kind: 'sample' };
        const next = await move();
        plays = next.kind === 'rest';
        // Whoever types an action is spared its form.
        if (next.kind !== 'type' || !asked.session.actions?.()?.includes(next.text)) return next;
        return { kind: 'type', text: world.protocol.format(next.text) };
      },
      onReplay: (asked, turn) => tell(stateOf(asked, turn, true)),
      onTurn: (completion, turn, by) => tell(turnEvent(completion, turn, by, pieces)),
    });
    const key = past?.key ?? {
      ...{ step: 0, environment: world.name, split: request.split, task: request.task },
      ...{ group: request.task, member: 0 },
    };
    const options = { ...usual, policy, policyKey: `play ${request.attempt}`, concurrency: 1 };
    const [episode] = await playEpisodes(
      [{ key, task, ...(past?.drawsAs && { drawsAs: past.drawsAs }) }],
      options,
    );
    const { stop, failure, success, outcome } = episode!;
    const [first] = roleGroups([{ step: 0, group: 0, members: [episode!] }]);
    tell({
      kind: 'end',
      stop,
      ...(failure !== undefined && { failure: failure.slice(0, 2000) }),
      success,
      outcome: allFinite(outcome),
      rewards: first?.members[0]?.turns.map(({ reward }) => finite(reward)) ?? [],
    });
  } finally {
    await learner.close();
  }
}

function turnEvent(
  { text, ids, logprobs, top }: Completion,
  turn: number,
  by: 'policy' | 'person' | 'record',
  pieces: Pieces | undefined,
): PlayEvent {
  const sampled = by === 'policy';
  return {
    kind: 'turn',
    turn,
    by,
    text: text.slice(0, 8000),
    ...(pieces && sampled && { pieces: pieces.of(ids) }),
    joint: pieces?.joint ?? '',
    ids: sampled ? Array.from(ids) : [],
    logprobs: sampled ? Array.from(logprobs, finite) : [],
    ...(top &&
      pieces && {
        top: top.map((places) =>
          places.map(({ id, logprob }) => ({ piece: pieces.of([id])[0] ?? '', logprob: finite(logprob) })),
        ),
      }),
  };
}

export function notSteered(world: string): TurnwiseError {
  return new TurnwiseError('play-agent', {
    what: `${world} is an agent: its own code asks the model, so nobody can take over`,
    next: 'Watch it with: turnwise play --run NAME',
  });
}
