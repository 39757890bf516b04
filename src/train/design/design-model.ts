/** The shape of the models of a run, and the words of one that is made for it. */

import type { Group } from '../../core/episode.ts';
import { messageText } from '../../core/word-reply.ts';
import type { World } from '../../env/world.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { CHAT_WORDS, wordChatRenderer } from '../../model/chat/word-chat.ts';
import type { DecoderShape } from '../../model/decoder/decoder.ts';
import { headOf } from '../../objective/critic/critic-loss.ts';
import { learnVocabulary } from '../../synth/demonstrations.ts';
import { renderDemonstrations } from '../../synth/render-calls.ts';
import { builtIns, type Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import type { SmallModelCard } from '../model-card.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { longestTurns, roomFor, saidInRun } from './model-room.ts';

/** Decide the model's words and shape from demonstrations: those of all ways in which the run's are played. */
export function designModel(
  demonstrations: readonly Group[],
  config: TrainConfig,
  recipe: Recipe,
  world: World,
  catalogue: Catalogue = builtIns,
): SmallModelCard {
  const says = saidInRun(config, world, catalogue);
  const { tokenizer, maxActionWords } = world.agent
    ? learnVocabulary(demonstrations, messageText, [...CHAT_WORDS, ...says])
    : learnVocabulary(demonstrations, undefined, says);
  const renderer = (world.agent ? wordChatRenderer : wordRenderer)(tokenizer, maxActionWords);
  const { width, heads, layers, hidden } = config.model;
  const contextLength = roomFor(
    demonstrations.map((group) => renderDemonstrations(group, renderer)),
    longestTurns(config, world, catalogue),
  );
  const words = { words: tokenizer.words, maxActionWords };
  if (config.engine === 'tinker') return { ...words, shape: { vocabulary: tokenizer.size, contextLength } };
  return {
    ...words,
    shape: {
      vocabulary: tokenizer.size,
      width,
      layers,
      heads,
      keyValueHeads: heads,
      headWidth: width / heads,
      hidden,
      activation: 'swiglu',
      tiedHead: false,
      ropeTheta: 10_000,
      contextLength,
      normEpsilon: 1e-5,
      ...headsOf(recipe, config),
    },
  };
}

/** What a recipe's model has beside the policy's output. */
export function headsOf(
  { critic, heads, actsBy }: Recipe,
  config: TrainConfig,
): Pick<DecoderShape, 'valueHead' | 'extraHeads' | 'guidance'> {
  return {
    ...(critic && { valueHead: headOf(config.objective) }),
    ...(heads && { extraHeads: heads }),
    ...(actsBy && { guidance: { heads: actsBy, strength: config.critic.strength } }),
  };
}

/** The shape of the critic's own model: that of the policy, with room for the token after the last, where Q is read. */
export function criticShape({ criticHeads }: Recipe, shape: DecoderShape): DecoderShape | undefined {
  if (criticHeads === undefined) return undefined;
  const { valueHead: _, guidance: __, ...body } = shape;
  return { ...body, extraHeads: criticHeads, contextLength: shape.contextLength + 2 };
}
