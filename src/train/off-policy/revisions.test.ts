import { describe, expect, test } from 'vitest';
import type { Episode } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { samplesOfTrajectory } from '../../core/sample.ts';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups, type Trajectory } from '../../core/trajectory.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { renderCalls } from '../../synth/render-calls.ts';
import { revisionOf, type Splice, splicesOf } from './revisions.ts';

const tokenizer = WordTokenizer.fromTexts([
  'start saw-a saw-b saw-c saw-d saw-e saw-x saw-y a b c d e x y oh',
]);
const renderer = wordRenderer(tokenizer, 2);
const text = (ids: Iterable<number>): string => tokenizer.decode(Array.from(ids));

/** An episode that writes these words one after another, and reads what each of them brings; states are those words, too. */
function episodeOf(member: number, words: string, outcome: number): Episode {
  const acts = words.split(' ');
  const turns = acts.map((_, turn) => ({ written: 1, reward: turn === acts.length - 1 ? outcome : 0 }));
  const { calls, transitions, ...episode } = playedEpisode(member, turns);
  const own = calls.map((call, turn) => {
    const ids = Int32Array.from(renderer.completionIds(acts[turn]!));
    const messages = [user(turn === 0 ? 'start' : `saw-${acts[turn - 1]}`)];
    return { ...call, text: acts[turn]!, ids, logprobs: new Float32Array(ids.length), messages };
  });
  return {
    ...episode,
    calls: renderCalls({ ...episode, calls: own }, renderer),
    transitions: transitions.map((transition, turn) => ({
      ...transition,
      anchor: turn === 0 ? 'start' : acts[turn - 1]!,
    })),
    closing: { agent: [user(`saw-${acts.at(-1)}`)] },
  };
}

const membersOf = (...episodes: readonly Episode[]): readonly Trajectory[] =>
  roleGroups([madeGroup(...episodes)])[0]!.members;

const options = { alpha: 0.5, beta: 0.2, sameState: false };
const placed = ({ worse, better, cut, join }: Splice) => [
  worse.episode.key.member,
  better.episode.key.member,
  cut,
  join,
];

describe('where a bad episode is cut', () => {
  const good = episodeOf(0, 'a b c d e', 1);

  test('at the first turn after which episodes earn less, behind what both share', () => {
    // Another good one goes through x: only y is a mistake.
    const members = membersOf(good, episodeOf(1, 'a b x y', 0), episodeOf(2, 'a b x c', 1));
    expect(splicesOf(members, { ...options, beta: 0.6 }).map(placed)).toEqual([[1, 2, 3, 3]]);
    expect(splicesOf(membersOf(good, episodeOf(1, 'a b x y', 0)), options).map(placed)).toEqual([
      [1, 0, 2, 2],
    ]);
  });

  test('nothing is made of episodes that earned about the same, or too little', () => {
    expect(splicesOf(membersOf(good, episodeOf(1, 'a x', 0.9)), options)).toEqual([]);
    expect(splicesOf(membersOf(episodeOf(0, 'a b', 0.4), episodeOf(1, 'a x', 0)), options)).toEqual([]);
  });

  test('with the same state, the good one goes on from where the bad one is', () => {
    const same = { ...options, sameState: true };
    // After x the bad one is in state x, in which the good one never was.
    expect(splicesOf(membersOf(good, episodeOf(1, 'a x y', 0)), same)).toEqual([]);
    // After its mistake b the bad one is in state b, and the good one acted there in its third turn.
    const detour = episodeOf(1, 'b x', 0);
    expect(splicesOf(membersOf(good, detour), same).map(placed)).toEqual([[1, 0, 0, 2]]);
  });
});

describe('a revision', () => {
  const [better, worse] = membersOf(episodeOf(0, 'a b c d e', 1), episodeOf(1, 'a b x y', 0)) as [
    Trajectory,
    Trajectory,
  ];
  const splice = { worse, better, cut: 3, join: 2 };

  test('reads the mistakes, and learns the words of noticing and the three good acts', () => {
    const [sample] = samplesOfTrajectory(revisionOf(splice, renderer, 'oh'));
    const { ids_T, mask_T } = sample!;
    expect(text(ids_T)).toBe(
      'start <act> a <end> saw-a <act> b <end> saw-b <act> x <end> saw-x <act> y <end> saw-y <act> oh c <end> saw-c <act> d <end> saw-d <act> e <end>',
    );
    expect(text(ids_T.filter((_, token) => mask_T[token] === 1))).toBe('oh c <end> d <end> e <end>');
  });

  test('with words the act is none of what it was chosen among, and without them it is', () => {
    const choices = [Int32Array.from(better.calls[2]!.ids)];
    const chosen = {
      ...better,
      turns: better.turns.map((turn) => ({
        ...turn,
        calls: turn.calls.map((call) => ({ ...call, choices })),
      })),
    };
    const noticing = (said: string) => revisionOf({ ...splice, better: chosen }, renderer, said).calls[4]!;
    expect(noticing('oh').choices).toBeUndefined();
    expect(noticing('').choices).toBe(choices);
  });

  test('without words the good act follows at once, as it was sampled', () => {
    const { calls, turns } = revisionOf(splice, renderer);
    expect(calls.map(({ trainable }) => trainable === true)).toEqual([
      false,
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(calls[4]!.ids).toEqual(better.calls[2]!.ids);
    expect(turns).toHaveLength(7);
  });
});
