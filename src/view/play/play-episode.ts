/** One episode that somebody steers: a checkpoint is opened, plays when it is told to, and says how sure it was. */

import type { ByRole, Call, Episode, EpisodeKey } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { playableTask } from '../../env/tasks/split.ts';
import { policyRoles } from '../../env/world.ts';
import type { Completion, CompletionRequest, Policy } from '../../policy/policy.ts';
import { type CollectOptions, playEpisodes } from '../../rollout/collect.ts';
import type { EpisodeRequest } from '../../rollout/episode.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
import { version } from '../../run/version.ts';
import { type Learner, playOptions } from '../../train/kit/learner.ts';
import { taskText } from '../page/group/task-text.ts';
import { shownMessage } from '../server/episode.ts';
import { allFinite, finite } from '../server/finite.ts';
import { type Pieces, piecesOf } from '../server/pieces.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { PlayEvent, PlayMove, PlayRequest } from './messages.ts';
import { notPure, type Recorded, recordedBefore, replayFrom, requestOf } from './recorded.ts';
import { otherIn, playersIn } from './seats-of-record.ts';
import { steeredPolicy } from './steered-policy.ts';
import { playedAgain, playedOn } from './turns-of-record.ts';
import { differs, withBranchChance } from './walk-record.ts';

const likeliest = 5;

/** The name of whoever plays in the place of the checkpoint. */
const STAND_IN = 'stand-in';

export interface Played {
  readonly root: string;
  readonly request: PlayRequest;
  /** Who plays in the place of the checkpoint, as the setting `players` names it. */
  readonly player?: string;
  tell(event: PlayEvent): void;
  /** What to do now. */
  move(): Promise<PlayMove>;
  readonly signal: AbortSignal;
}

/**
 * @throws TurnwiseError `play-agent`, `play-impure`, `play-unrecorded`, those of opening a checkpoint, of reading an episode and of the
 *   turn control that goes on with it
 */
export async function playEpisode({ root, request, player, tell, move, signal }: Played): Promise<void> {
  const run = new RunsFolder({ root, version }).find(request.run);
  const { checkpoint, from } = request;
  const stored = from && (await recordedBefore(run, from));
  const goesOn = stored !== undefined && from !== undefined && from.turns < stored.chain.transitions.length;
  const learner = await openCheckpoint({
    root,
    name: run.name,
    ...(checkpoint !== undefined && { step: checkpoint }),
    ...(goesOn && stored.label === 'training' && { turns: true }),
    players: {
      ...(goesOn && playersIn(stored, { root, name: run.name })),
      ...(player !== undefined && { [STAND_IN]: player }),
    },
    signal,
  });
  try {
    const { world, renderer } = learner;
    if (learner.playWith) throw notSteered(world.name);
    if (stored && !world.pure) throw notPure(world.name);
    const past = stored && (await withBranchChance(stored, { world, config: learner.config, signal }));
    const again = past && { past, root, run, learner, signal };
    const {
      options: usual,
      limit,
      seats,
    } = again
      ? goesOn
        ? await playedOn(again)
        : playedAgain(again)
      : { options: playOptions(learner, signal), limit: 0, seats: {} };
    const pieces = piecesOf(run.path);
    const task = past?.episode.task ?? playableTask(world, request.split, request.task);
    const opened = checkpoint ?? run.checkpoints().at(-1) ?? 0;
    tell({ kind: 'open', world: world.name, task: taskText(task as Json), checkpoint: opened });
    const stateOf = (asked: CompletionRequest, turn: number, replayed: boolean): PlayEvent => {
      const { messages, session, role } = asked;
      // A context may have left out what was read before.
      const fresh = messages.slice(messages.findLastIndex((one) => one.role === 'assistant') + 1);
      const picture = session.render?.();
      const actions = session.actions?.();
      const other = replayed ? undefined : otherIn(role, learner, seats);
      return {
        kind: 'state',
        turn,
        role,
        ...(picture !== undefined && { picture: picture.slice(0, 8000) }),
        messages: fresh.map(shownMessage),
        ...(actions && { actions: actions.slice(0, 64) }),
        form: world.protocol.format('ACTION'),
        replayed,
        ...(other !== undefined && { player: other }),
      };
    };
    let plays = false;
    let turn = 0;
    const policy = steeredPolicy({
      policy: player === undefined ? usual.policy : inPlaceOfLearner(learner, usual, seats),
      renderer,
      top: likeliest,
      ask: async (asked) => {
        tell(stateOf(asked, turn, false));
        if (plays || otherIn(asked.role, learner, seats) !== undefined) return { kind: 'sample' };
        const next = await move();
        plays = next.kind === 'rest';
        // Whoever types an action is spared its form.
        if (next.kind !== 'type' || !asked.session.actions?.()?.includes(next.text)) return next;
        return { kind: 'type', text: world.protocol.format(next.text) };
      },
      onTurn: (completion, by, role) => {
        const other = otherIn(role, learner, seats);
        const who = other === undefined ? { by } : { by: 'other' as const, player: other };
        tell(turnEvent(completion, turn++, who, pieces));
      },
    });
    const onRepeat = (asked: CompletionRequest, call: Call): void => {
      const acted = past?.chain.transitions.find((one) => one.call === call.id);
      const here = asked.session.anchor(asked.role);
      if (acted && acted.anchor !== here) throw differs(turn, here, acted.anchor);
      tell(stateOf(asked, turn, true));
      tell(turnEvent({ ...call, top: [] }, turn++, { by: 'record' }, pieces));
    };
    const key: EpisodeKey = {
      ...{ step: 0, environment: world.name, split: request.split, task: request.task },
      ...{ group: request.task, member: 0 },
    };
    const turns = goesOn ? from.turns : Number.POSITIVE_INFINITY;
    const asked: EpisodeRequest = past
      ? requestOf(past, replayFrom(past, { turns, onRepeat }), limit)
      : { key, task };
    const options = { ...usual, policy, policyKey: `play ${request.attempt}`, concurrency: 1 };
    const [episode] = await playEpisodes([asked], options);
    const { stop, failure, success, outcome } = episode!;
    const [first] = roleGroups([{ step: 0, group: 0, members: [episode!] }]);
    tell({
      kind: 'end',
      stop,
      ...(failure !== undefined && { failure: failure.slice(0, 2000) }),
      success,
      outcome: allFinite(outcome),
      rewards: first?.members[0]?.turns.map(({ reward }) => finite(reward)) ?? [],
      ...(past && !goesOn && { differs: differences(episode!, past) }),
    });
  } finally {
    await learner.close();
  }
}

/** Everybody as they sit, but another player where a learner would play. */
function inPlaceOfLearner(
  learner: Learner,
  { policy, seatedAs }: CollectOptions,
  own: ByRole<string>,
): Policy {
  const roles = policyRoles(learner.world).filter((role) => otherIn(role, learner, own) === undefined);
  return seatedAs?.({ ...own, ...Object.fromEntries(roles.map((role) => [role, STAND_IN])) }) ?? policy;
}

/** What of the end of a record that is played again is not as it was. Scores of groups are not given again. */
function differences({ stop, success, outcome }: Episode, { episode: before }: Recorded): string[] {
  const { scores = [] } = before;
  const roles = Object.keys(before.outcome);
  const earned = (role: string): number =>
    scores.reduce((sum, { rewards }) => sum - (rewards[role] ?? 0), before.outcome[role] ?? 0);
  const isSame = (a: number, b: number): boolean => Object.is(a, b) || Math.abs(a - b) < 1e-9;
  return [
    ...(stop === before.stop ? [] : ['stop']),
    ...(roles.every((role) => success[role] === before.success[role]) ? [] : ['success']),
    ...(roles.every((role) => isSame(outcome[role] ?? 0, earned(role))) ? [] : ['return']),
  ];
}

function turnEvent(
  { text, ids, logprobs, top }: Pick<Completion, 'text' | 'ids' | 'logprobs' | 'top'>,
  turn: number,
  who: Pick<Extract<PlayEvent, { readonly kind: 'turn' }>, 'by' | 'player'>,
  pieces: Pieces | undefined,
): PlayEvent {
  const sampled = who.by === 'policy';
  return {
    kind: 'turn',
    turn,
    ...who,
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
