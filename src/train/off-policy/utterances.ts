/** Turns as a critic sees them: the state before an utterance, the utterance, what it earned, and the state after. */

import type { Call } from '../../core/episode.ts';
import type { Rng } from '../../core/rng.ts';
import type { Sample } from '../../core/sample.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { Trainer } from '../kit/trainer.ts';
import { recordedOf } from './rows.ts';

/** Where the values of a turn are read: in which row, and before which tokens. */
export interface Utterance {
  readonly row: number;
  /** Before it is the state: V is read here. */
  readonly start: number;
  /** After the utterance: Q is read here. */
  readonly end: number;
  readonly reward: number;
  /** Whether the environment accepted it. */
  readonly valid: boolean;
  /** The token sequences to which it was restricted, and all others in this state are. */
  readonly choices?: Call['choices'];
  /** The next turn of the episode; absent after the last. */
  readonly next?: Utterance;
}

export interface Utterances {
  /** The episodes' samples, each with a token more, so that there is a place after the last utterance. */
  readonly ids: readonly Int32Array[];
  readonly turns: readonly Utterance[];
}

/** Any token will do where only the prefix before it is read. */
const CLOSING_ID = 0;

export function utterancesOf(episodes: readonly Trajectory[], rewardScale: number): Utterances {
  const ids: Int32Array[] = [];
  const turns: Utterance[] = [];
  for (const { episode, samples } of recordedOf(episodes)) {
    const places = samples.flatMap((sample) => {
      const row = ids.push(Int32Array.of(...sample.ids_T, CLOSING_ID)) - 1;
      return spansOf(sample).map((span) => ({ ...span, row, call: callOf(sample, span) }));
    });
    const choicesOf = new Map(episode.calls.map(({ id, choices }) => [id, choices]));
    let next: Utterance | undefined;
    for (const { turn, row, start, end, call } of places.reverse()) {
      const choices = choicesOf.get(call);
      const { reward, transition } = episode.turns[turn]!;
      const valid = transition?.valid ?? true;
      next = {
        ...{ row, start, end, reward: reward * rewardScale, valid },
        ...(choices && { choices }),
        ...(next && { next }),
      };
      turns.push(next);
    }
  }
  return { ids, turns };
}

function spansOf({ turn_T }: Sample): { turn: number; start: number; end: number }[] {
  const spans: { turn: number; start: number; end: number }[] = [];
  for (const [token, turn] of turn_T.entries()) {
    if (turn < 0) continue;
    const last = spans.at(-1);
    if (last?.turn === turn) last.end = token + 1;
    else spans.push({ turn, start: token, end: token + 1 });
  }
  return spans;
}

/** The call whose tokens all of a span are; -1 where there are several. */
const callOf = ({ call_T }: Sample, { start, end }: Pick<Utterance, 'start' | 'end'>): number =>
  call_T.subarray(start, end).every((call) => call === call_T[start]) ? call_T[start]! : -1;

/** A state and an action that the present policy took there: a row with a token more. */
export interface Imagined {
  readonly ids_T: Int32Array;
  readonly start: number;
  readonly end: number;
  /** What the sampler wrote down of it, by token of the row. */
  readonly samplerLogprobs?: Float32Array;
  readonly choices?: Call['choices'];
}

/** What the published policy does in these states, `count` times in each. */
export async function imagine(
  trainer: Trainer,
  { ids }: Utterances,
  turns: readonly Utterance[],
  rng: Rng,
  count = 1,
): Promise<Imagined[]> {
  const key = rng.uint32();
  const prompts = turns.flatMap(({ row, start, choices }, turn) =>
    Array.from({ length: count }, (_, copy) => ({
      ids_T: ids[row]!.subarray(0, start),
      name: `imagined/${key}/${turn}/${copy}`,
      ...(choices && { choices }),
    })),
  );
  const results = await trainer.complete(prompts);
  return results.map((result, index) => {
    const { ids_T: prompt_T, choices } = prompts[index]!;
    const end = prompt_T.length + result.ids.length;
    const samplerLogprobs = new Float32Array(end);
    samplerLogprobs.set(result.logprobs, prompt_T.length);
    const ids_T = Int32Array.of(...prompt_T, ...result.ids, CLOSING_ID);
    return { ids_T, start: prompt_T.length, end, samplerLogprobs, ...(choices && { choices }) };
  });
}
