/** How the model of a run reads and writes. */

import type { World } from '../../env/world.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Learner } from '../../train/kit/learner.ts';
import { conversationRendererOf, type ModelCard, rendererOf } from '../../train/model-card.ts';
import type { AgentRun } from './agent-run.ts';
import type { OpenBase } from './run-model.ts';

/** Its renderer, and for an agent, how it plays. */
export async function languageOf(
  card: ModelCard,
  config: TrainConfig,
  world: World,
  agentRun: AgentRun | undefined,
): Promise<Pick<Learner, 'renderer' | 'playWith'>> {
  if (!agentRun) return { renderer: await rendererOf(card, config, world) };
  const renderer = await conversationRendererOf(card, config);
  return { renderer, playWith: agentRun.playWith(renderer) };
}

/** The card with the folder in which its base was found this time. */
export function movedTo(card: ModelCard, open: OpenBase | undefined): ModelCard {
  return open === undefined || 'words' in card ? card : { ...card, base: open.base };
}
