/** What every pure environment promises, as one check that its tests can run over many seeds. */

import { isDeepStrictEqual } from 'node:util';
import { canonicalJson, type Json } from '../core/json.ts';
import type { JsonCompatible } from '../core/json-compatible.ts';
import { Rng } from '../core/rng.ts';
import type { Environment } from './environment.ts';
import { fromEnvironment } from './from-environment.ts';
import { NO_ACTION } from './protocol.ts';

/** Things a policy may write that no environment should take for an action. */
const NONSENSE = [NO_ACTION, 'xyzzy', '<unk>', '  ', 'left right', '"', '{"name":1}', '-1', '1e3', '\u0000'];

/**
 * Play `task` with a mixture of legal actions and nonsense, and return the first broken promise, or undefined:
 * nothing throws, the turn limit suffices to end the episode, the state survives JSON, nonsense is invalid and leaves
 * the anchor alone, a fork given the same action goes the same way, and the same seed gives the same transcript.
 */
export async function brokenLaw<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  environment: Environment<Task, State>,
  task: Task,
  seed: string | number,
): Promise<string | undefined> {
  const world = fromEnvironment(environment);
  const transcripts: string[] = [];
  for (const _ of [1, 2]) {
    const choices = Rng.of('laws', seed);
    const session = await world.open(task as Json, Rng.of('world', seed));
    const signal = new AbortController().signal;
    const transcript: Json[] = [];
    for (let turn = 0; session.toMove() !== undefined && turn < world.maxTurns; turn++) {
      const nonsense = choices.chance(0.2);
      const action = nonsense ? choices.pick(NONSENSE) : await world.script?.(session, 'random', choices);
      if (action === undefined) return 'actions(state) is missing';
      const before = session.anchor('agent');
      const twin = await session.fork?.();
      const result = await session.step(action, signal);
      if (!isDeepStrictEqual(await twin?.step(action, signal), result)) return 'a fork went another way';
      if (twin?.anchor('agent') !== session.anchor('agent')) return 'a fork reached another state';
      if (!nonsense && !result.valid) return `the legal action ${JSON.stringify(action)} was invalid`;
      if (nonsense && result.valid) return `${JSON.stringify(action)} was taken for an action`;
      if (nonsense && !result.done && session.anchor('agent') !== before) return 'an invalid action moved';
      if (result.done !== (session.toMove() === undefined)) return 'done and toMove disagree';
      transcript.push([action, result.rewards, session.observe('agent').map((message) => message.content)]);
    }
    transcripts.push(canonicalJson(transcript));
  }
  return transcripts[0] === transcripts[1] ? undefined : 'the same seed gave two transcripts';
}
