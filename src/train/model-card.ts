/** What a checkpoint must know of its model besides weights: its shape, and how it reads and writes. */

import type { Group } from '../core/episode.ts';
import type { World } from '../env/world.ts';
import { chatRenderer } from '../model/chat/chat-renderer.ts';
import type { ConversationRenderer } from '../model/chat/conversation.ts';
import { pretrainedConversation } from '../model/chat/pretrained-conversation.ts';
import { type Renderer, wordRenderer } from '../model/chat/renderer.ts';
import { wordChatRenderer } from '../model/chat/word-chat.ts';
import type { DecoderShape } from '../model/decoder/decoder.ts';
import { loadPretrainedLanguage } from '../model/tokenizer/pretrained-language.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { callsOf } from '../synth/demonstrations.ts';
import type { TrainConfig } from './config/config.ts';

/** What is known of the shape of a model that a server holds. */
export type RemoteShape = Pick<DecoderShape, 'vocabulary' | 'contextLength'>;

/** A small model, made for its task: its words are saved with every checkpoint, so that a checkpoint stands alone. */
export interface SmallModelCard {
  readonly shape: DecoderShape | RemoteShape;
  readonly words: readonly string[];
  readonly maxActionWords: number;
}

/** A pretrained model. Its tokenizer and chat template stay where they are. */
export interface PretrainedCard {
  readonly shape: DecoderShape | RemoteShape;
  readonly base: BaseModel;
  /** What it is told first; empty where the environment opens with a system message. */
  readonly system: string;
  /** Tokens of a completion at most, where the settings leave it to what is imitated. */
  readonly turnTokens?: number;
}

export interface BaseModel {
  /** As it was asked for: a folder, or `owner/name`. */
  readonly reference: string;
  /** Where it was found. */
  readonly folder: string;
  /** Of its files: a run cannot go on from other ones. */
  readonly digest: string;
}

export type ModelCard = SmallModelCard | PretrainedCard;

/** Whether the weights are here, and their shape known. */
export function isLocal(shape: DecoderShape | RemoteShape): shape is DecoderShape {
  return 'width' in shape;
}

/** Tokens of a completion at most, where neither the settings nor demonstrations say it. */
const LONGEST_TURN = 128;

function turnLimit({ turnTokens = LONGEST_TURN }: PretrainedCard, { chat }: TrainConfig): number {
  return chat.maxTurnTokens || turnTokens;
}

/**
 * The card of a pretrained model that may write twice as much as the longest action that it imitates or chooses: an answer that
 * does not end holds up all that are sampled beside it.
 */
export async function limitedByActions(
  card: PretrainedCard,
  config: TrainConfig,
  world: World,
  demonstrations: readonly Group[],
): Promise<PretrainedCard> {
  const { chat, clone, rollout } = config;
  const isShort = clone.steps > 0 || rollout.choices;
  if (chat.maxTurnTokens > 0 || !isShort || demonstrations.length === 0) return card;
  const renderer = await rendererOf(card, config, world);
  const texts = new Set(demonstrations.flatMap(callsOf).map(({ text }) => text));
  const longest = Math.max(...[...texts].map((text) => renderer.completionIds(text).length));
  return { ...card, turnTokens: 2 * longest };
}

/** How the model of this card reads messages and writes actions. */
export async function rendererOf(card: ModelCard, config: TrainConfig, world: World): Promise<Renderer> {
  if (world.agent) return conversationRendererOf(card, config);
  if ('words' in card) return wordRenderer(new WordTokenizer(card.words), card.maxActionWords);
  const { thinking } = config.chat;
  const language = await loadPretrainedLanguage(card.base.folder, card.shape.vocabulary);
  return chatRenderer(language, {
    maxTurnTokens: turnLimit(card, config),
    system: card.system,
    translateToolCalls: world.protocol.tools !== undefined,
    ...(thinking === 'template' ? {} : { variables: { enable_thinking: thinking === 'on' } }),
  });
}

/** How the model of this card talks with an agent, whose own messages say what it is. */
export async function conversationRendererOf(
  card: ModelCard,
  config: TrainConfig,
): Promise<ConversationRenderer> {
  if ('words' in card) return wordChatRenderer(new WordTokenizer(card.words), card.maxActionWords);
  const { thinking } = config.chat;
  const language = await loadPretrainedLanguage(card.base.folder, card.shape.vocabulary);
  return pretrainedConversation(language, {
    maxTurnTokens: turnLimit(card, config),
    ...(thinking === 'template' ? {} : { variables: { enable_thinking: thinking === 'on' } }),
  });
}
