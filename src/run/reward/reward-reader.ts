/** Conversations as a reward model reads them: token ids, and a place after the last where its reward stands. */

import type { Call, Episode, Group } from '../../core/episode.ts';
import { type Sample, samplesOfTrajectory } from '../../core/sample.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { episodesOfRows } from '../../data/episodes-of-rows.ts';
import type { Row } from '../../data/row.ts';
import type { Engine } from '../../engine/engine.ts';
import { scoredRows, type TokenRow } from '../../engine/token-batch.ts';
import { AGENT } from '../../env/session.ts';
import { type Renderer, wordRenderer, writtenBy } from '../../model/chat/renderer.ts';
import { CHAT_WORDS } from '../../model/chat/word-chat.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { REWARD_HEAD } from '../../objective/critic/bradley-terry.ts';
import { renderDemonstrations } from '../../synth/render-calls.ts';
import { type TrainConfig, type TrainSettings, trainConfigSchema } from '../../train/config/config.ts';
import { conversationRendererOf, type ModelCard } from '../../train/model-card.ts';

/** A conversation, token by token. */
export interface ReadSequence {
  /** Its tokens, and one more: the reward is read before that. */
  readonly ids_T: Int32Array;
  /** Of the conversation. */
  readonly tokens: number;
  /** It was longer than the context, so that its end was not read. */
  readonly cut: boolean;
  /** Where it stands before its first answer and after each of them: how many of its tokens come before, at most those that are read. */
  readonly places_K1: readonly number[];
}

export function configOfModel(settings: TrainSettings): TrainConfig {
  return trainConfigSchema.parse(settings);
}

/** How a reward model reads messages: as conversations; a small model of an environment in its own words. */
export function readerOf(card: ModelCard, config: TrainConfig): Promise<Renderer> | Renderer {
  if ('words' in card && !CHAT_WORDS.every((word) => card.words.includes(word)))
    return wordRenderer(new WordTokenizer(card.words), card.maxActionWords);
  return conversationRendererOf(card, config);
}

/**
 * The conversations of a row: one, or of a pair the preferred one and the other.
 *
 * @param contextLength of the model, the place of the reward among them
 */
export function sequencesOf(row: Row, renderer: Renderer, contextLength: number): ReadSequence[] {
  const read = episodesOfRows([row], {
    environment: 'rewards',
    role: AGENT,
    write: (message) => writtenBy(renderer, message),
  });
  return read.groups
    .flatMap((group) => renderDemonstrations(group, renderer).members)
    .map((episode) => sequenceOf(episode, renderer, contextLength));
}

function sequenceOf(episode: Episode, renderer: Renderer, contextLength: number): ReadSequence {
  const group: Group = { step: 0, group: 0, members: [episode] };
  const [sample] = roleGroups([group])
    .flatMap(({ members }) => members)
    .flatMap((trajectory) => samplesOfTrajectory(trajectory, () => true))
    .slice(-1);
  const all = sample?.ids_T ?? new Int32Array();
  const places = sample ? placesIn(sample, episode.calls) : [0];
  const tokens = Math.min(all.length, contextLength - 1);
  const ids_T = new Int32Array(tokens + 1);
  ids_T.set(all.subarray(0, tokens));
  // Any token would do: it is predicted, and not read.
  ids_T[tokens] = renderer.stopIds[0] ?? 0;
  const places_K1 = places.map((place) => Math.min(place, tokens));
  return { ids_T, tokens: all.length, cut: tokens < all.length, places_K1 };
}

/** How many tokens come before the first answer, and up to the end of each answer; an empty one ends where it begins. */
function placesIn({ call_T }: Sample, answers: readonly Call[]): number[] {
  const ends = new Map<number, number>();
  for (const [token, call] of call_T.entries()) if (call >= 0) ends.set(call, token + 1);
  const places = [
    Math.max(
      0,
      call_T.findIndex((call) => call >= 0),
    ),
  ];
  for (const { id } of answers) places.push(ends.get(id) ?? places.at(-1)!);
  return places;
}

/** A row whose one target is the place of the reward. */
export function rewardRow({ ids_T }: ReadSequence): TokenRow {
  const weight = new Float32Array(ids_T.length);
  weight[ids_T.length - 1] = 1;
  return { ids_T, channels: { weight } };
}

/** The rewards of conversations. */
export async function rewardsOf(
  engine: Pick<Engine, 'score'>,
  sequences: readonly ReadSequence[],
): Promise<number[]> {
  return (await rewardsAlong(engine, sequences)).map((reward_T) => reward_T.at(-1)!);
}

/** What conversations are worth as far as they go: after t tokens, for each t; 0 before the first. */
export async function rewardsAlong(
  engine: Pick<Engine, 'score'>,
  sequences: readonly ReadSequence[],
): Promise<readonly Float32Array[]> {
  if (sequences.length === 0) return [];
  const { heads } = await engine.score(scoredRows(sequences), { temperature: 1, heads: [REWARD_HEAD] });
  return heads![REWARD_HEAD]!;
}
