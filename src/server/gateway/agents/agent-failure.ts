/** Why an agent's episode ended that its code did not bring to an end: the policy's doing, a limit, or the code itself. */

import type { Call } from '../../../core/episode.ts';
import { TurnwiseError } from '../../../core/errors.ts';
import { thrownText, tried } from '../../../core/safe-text.ts';
import type { StopReason } from '../../../core/stop.ts';
import { EpisodeEnd } from '../../../rollout/boundary.ts';
import { ACT } from '../purpose.ts';
import type { GatewaySession } from '../session/session.ts';
import { answeredAt } from '../transitions.ts';

/** The agent's code could not go on with what the policy said. It counts and is learned from, like any other outcome. */
export class InvalidAction extends EpisodeEnd {
  readonly reward: number;

  constructor(call: Call, error: unknown) {
    const what = call.problem ?? 'it was cut by its length limit';
    super('invalid-action', `call ${call.id}: ${what}; the agent threw: ${thrownText(error)}`, error);
    this.reward = rewardOf(error);
  }
}

/** A control ended the episode, and the agent's code did not go on without the call. It counts like any other outcome. */
export class Stopped extends EpisodeEnd {
  readonly reward: number;

  constructor(stop: StopReason, error: unknown) {
    super(stop, thrownText(error), error);
    this.reward = rewardOf(error);
  }
}

/** @returns what to throw in place of the error that the agent's code threw */
export function failureOf(error: unknown, session: GatewaySession): unknown {
  const end = tried(() => (error instanceof EpisodeEnd ? error : undefined), undefined);
  if (end) return end;
  // Whatever the policy said: the call that is wrong is one of the agent's code.
  if (TurnwiseError.isInstance(error) && error.code === 'agent-reward') return error;
  // What the agent says of a failed call is only its echo.
  if (session.fault !== undefined) return faultOf(session.fault);
  // Who names an origin knows better: a broken tool is one, whatever the policy said or was refused before.
  if (TurnwiseError.isInstance(error) && error.fields.origin !== undefined) return error;
  if (session.stopped !== undefined) return new Stopped(session.stopped, error);
  if (session.overflowed) return new EpisodeEnd('context-overflow', thrownText(error), error);
  if (session.limited) return new EpisodeEnd('turn-limit', thrownText(error), error);
  const broken = brokenEnd(session);
  return broken ? new InvalidAction(broken, error) : error;
}

/** An error of our own says what it is, and may end the run; anything else is the policy's failure. */
export function faultOf(error: unknown): unknown {
  if (TurnwiseError.isInstance(error)) return error;
  return new EpisodeEnd('failed:policy', thrownText(error), error);
}

/** An act that was cut or malformed, and after whose answer no call came, of whatever model. */
function brokenEnd(session: GatewaySession): Call | undefined {
  return session
    .record()
    .calls.findLast(
      (call) =>
        call.purpose === ACT &&
        (call.problem !== undefined || call.finish === 'length') &&
        answeredAt(call) >= session.askedAt,
    );
}

/** The reward that an error names, else 0. */
function rewardOf(error: unknown): number {
  const reward = tried(() => (error as { readonly reward?: unknown } | null | undefined)?.reward, undefined);
  return typeof reward === 'number' && Number.isFinite(reward) ? reward : 0;
}
