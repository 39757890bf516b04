/** Demonstrations: episodes played by an environment's scripts, with mistakes mixed in so that something is left to learn. */

import { Rng } from '../core/rng.ts';
import { isTrainable } from '../core/stop.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { World } from '../env/world.ts';
import type { Renderer } from '../model/renderer.ts';
import { WordTokenizer } from '../model/word-tokenizer.ts';
import { Lockstep } from '../policy/lockstep.ts';
import { scriptedPolicy } from '../policy/scripted.ts';
import { collectGroups } from '../rollout/collect.ts';
import type { ContextStrategy } from '../rollout/context.ts';
import type { Watch } from '../rollout/watchdog.ts';

export interface DemonstrationOptions {
  readonly demonstrations: number;
  readonly beginnerShare: number;
  readonly randomRate: number;
  readonly seed: number;
  readonly maxTurns: number;
  readonly turnTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly watch: Watch;
  readonly onEpisode?: (done: number, total: number) => void;
}

/** Text only: the tokenizer is made from these, so there are no ids yet. */
const textOnly: Renderer = {
  stopIds: [],
  maxTurnTokens: 1,
  contextIds: () => [],
  completionIds: () => [],
  text: () => '',
};
const textContext: ContextStrategy = {
  name: 'full',
  next: () => ({ promptIds: [], contextIds: [], extendsPrevious: true }),
};

/** Episodes on train tasks, one for each; failed ones are left out. */
export async function demonstrate(world: World, options: DemonstrationOptions): Promise<Trajectory[]> {
  const tasks = world.tasks('train');
  const beginner = (conversation: string): boolean =>
    Rng.of('beginner', options.seed, conversation.split('/')[1] ?? '').chance(options.beginnerShare);
  const groups = await collectGroups(
    Array.from({ length: options.demonstrations }, (_, index) => ({
      id: `demonstration/${index}`,
      task: tasks.at(index % tasks.size),
      members: 1,
    })),
    {
      world,
      policy: scriptedPolicy(world, {
        player: (conversation) => (beginner(conversation) ? 'beginner' : 'expert'),
        randomRate: options.randomRate,
      }),
      renderer: textOnly,
      context: textContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: options.maxTurns,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: options.turnTimeoutMs,
      seed: options.seed,
      signal: options.signal,
      watch: options.watch,
      lockstep: new Lockstep(),
      concurrency: 64,
      ...(options.onEpisode ? { onEpisode: options.onEpisode } : {}),
    },
  );
  return groups
    .flatMap((group) => group.members)
    .filter((trajectory) => isTrainable(trajectory.stop) && trajectory.turns.length > 0);
}

/** The tokenizer of everything that was said, and the words of the longest action. */
export function learnVocabulary(demonstrations: readonly Trajectory[]): {
  readonly tokenizer: WordTokenizer;
  readonly maxActionWords: number;
} {
  const texts = new Set<string>();
  let maxActionWords = 1;
  for (const { turns } of demonstrations) {
    for (const turn of turns) {
      texts.add(turn.text);
      for (const message of turn.messages) texts.add(message.content);
      maxActionWords = Math.max(maxActionWords, turn.text.trim().split(/\s+/).length);
    }
  }
  return { tokenizer: WordTokenizer.fromTexts(texts), maxActionWords };
}

/** The demonstration as the policy would have seen and written it, token by token. */
export function renderDemonstration(
  demonstration: Trajectory,
  renderer: Renderer,
  strategy: ContextStrategy,
): Trajectory {
  let ids: readonly number[] = [];
  const turns = demonstration.turns.map((turn) => {
    const context = strategy.next({ ids, messages: [] }, turn.messages, renderer);
    const completion = renderer.completionIds(turn.text);
    ids = [...context.promptIds, ...completion];
    return {
      ...turn,
      contextIds: context.contextIds,
      extendsPrevious: context.extendsPrevious,
      ids: completion,
      logprobs: completion.map(() => 0),
    };
  });
  return { ...demonstration, turns };
}
