/** Conversations as a reward model reads them: token ids, and a place after the last where its reward stands. */

import type { Call } from '../../core/episode.ts';
import { promptOf } from '../../core/sample.ts';
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
  /** Its tokens as they stood when its last answer was written, and one more: the reward is read before that. */
  readonly ids_T: Int32Array;
  /** Of the conversation. */
  readonly tokens: number;
  /** It was longer than the context, so that its end was not read. */
  readonly cut: boolean;
  /** The same of earlier answers that stood after other tokens then: many templates drop the reasoning of an answer later. */
  readonly earlier: readonly Int32Array[];
  /** Where it stands before its first answer and after each of them. */
  readonly places_K1: readonly Place[];
}

/** After so many tokens of a row: 0 is that of the last answer, then come those of earlier ones. */
interface Place {
  readonly row: number;
  readonly tokens: number;
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
    .map(({ calls }) => sequenceOf(calls, renderer, contextLength));
}

function sequenceOf(answers: readonly Call[], renderer: Renderer, contextLength: number): ReadSequence {
  const { rows, places_K1 } = placesOf(answers);
  const most = contextLength - 1;
  // Any token would do after the last: it is predicted, and not read.
  const [ids_T, ...earlier] = rows.map((row) => withOneMore(row.subarray(0, most), renderer.stopIds[0] ?? 0));
  const tokens = rows[0]!.length;
  return {
    ids_T: ids_T!,
    tokens,
    cut: tokens > most,
    earlier,
    places_K1: places_K1.map((place) => ({ ...place, tokens: Math.min(place.tokens, most) })),
  };
}

/** What was read and written up to each answer: a row of its own, or a beginning of the row of a later answer that goes on from it. */
function placesOf(answers: readonly Call[]): {
  readonly rows: readonly Int32Array[];
  readonly places_K1: readonly Place[];
} {
  const rows: Int32Array[] = [];
  const ends = new Map<number, Place>();
  for (const call of [...answers].reverse()) {
    const { id, parent, kept, context, ids } = call;
    const end = ends.get(id) ?? ownRow(rows, call, answers);
    ends.set(id, end);
    if (parent !== undefined && kept === undefined && !ends.has(parent))
      ends.set(parent, { ...end, tokens: end.tokens - ids.length - context.length });
  }
  const [first] = answers;
  if (first === undefined) return { rows: [new Int32Array()], places_K1: [{ row: 0, tokens: 0 }] };
  const { row, tokens } = ends.get(first.id)!;
  const opening = { row, tokens: tokens - first.ids.length };
  return { rows, places_K1: [opening, ...answers.map(({ id }) => ends.get(id)!)] };
}

/** A row of the prompt of an answer and of the answer, and the place at its end. */
function ownRow(rows: Int32Array[], answer: Call, answers: readonly Call[]): Place {
  const prompt = promptOf(answer, answers);
  const row = new Int32Array(prompt.length + answer.ids.length);
  row.set(prompt);
  row.set(answer.ids, prompt.length);
  return { row: rows.push(row) - 1, tokens: row.length };
}

function withOneMore(row: Int32Array, id: number): Int32Array {
  const more = new Int32Array(row.length + 1).fill(id);
  more.set(row);
  return more;
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
  const reward_RT = await readHead(
    engine,
    sequences.map(({ ids_T }) => ids_T),
  );
  return reward_RT.map((reward_T) => reward_T.at(-1)!);
}

/** What each conversation is worth before its first answer and after each of them; 0 before its first token. */
export async function rewardsAlong(
  engine: Pick<Engine, 'score'>,
  sequences: readonly ReadSequence[],
): Promise<number[][]> {
  const reward_RT = await readHead(
    engine,
    sequences.flatMap(({ ids_T, earlier }) => [ids_T, ...earlier]),
  );
  let next = 0;
  return sequences.map(({ earlier, places_K1 }) => {
    const own = reward_RT.slice(next, next + 1 + earlier.length);
    next += own.length;
    return places_K1.map(({ row, tokens }) => own[row]![tokens]!);
  });
}

/** The reward after t tokens of each row, for each t. */
async function readHead(
  engine: Pick<Engine, 'score'>,
  ids_R: readonly Int32Array[],
): Promise<readonly Float32Array[]> {
  if (ids_R.length === 0) return [];
  const rows = scoredRows(ids_R.map((ids_T) => ({ ids_T })));
  const { heads } = await engine.score(rows, { temperature: 1, heads: [REWARD_HEAD] });
  return heads![REWARD_HEAD]!;
}
