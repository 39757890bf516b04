/** Demonstrations: episodes played by an environment's scripts, with mistakes mixed in so that something is left to learn. */

import { TurnwiseError } from '../core/errors.ts';
import type { Message } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { isTrainable } from '../core/stop.ts';
import type { Group, Trajectory } from '../core/trajectory.ts';
import { tasksOf } from '../env/split.ts';
import type { World } from '../env/world.ts';
import { continued, type History, type Renderer } from '../model/renderer.ts';
import { WordTokenizer } from '../model/word-tokenizer.ts';
import { Lockstep } from '../policy/lockstep.ts';
import { scriptedPolicy } from '../policy/scripted.ts';
import { type AgentNames, agentNames } from '../rollout/agent-names.ts';
import { collectGroups, failuresOf, type GroupRequest, type Play } from '../rollout/collect.ts';
import { type ContextStrategy, fullContext } from '../rollout/context.ts';
import type { Watch } from '../rollout/watchdog.ts';

export interface DemonstrationOptions {
  readonly demonstrations: number;
  readonly beginnerShare: number;
  readonly randomRate: number;
  readonly seed: number;
  readonly maxTurns: number;
  readonly turnTimeoutMs: number;
  /** Agents that exchange roles are shown with all of them. Default: agents have no names. */
  readonly exchanges?: boolean;
  readonly signal: AbortSignal;
  readonly watch: Watch;
  /** Plays the demonstrations, where the world's scripts do not. */
  readonly play?: Play;
  readonly onEpisode?: (done: number, total: number) => void;
}

/** Text only: the tokenizer is made from these, so there are no ids yet. */
const textOnly: Renderer = {
  stopIds: [],
  maxTurnTokens: 1,
  prompt: () => ({ promptIds: [], contextIds: [], extendsPrevious: true }),
  completionIds: () => [],
  text: () => '',
  answer: (text) => text,
};

/** Who plays the demonstration of that name. */
export function demonstrator(
  conversation: string,
  { seed, beginnerShare }: Pick<DemonstrationOptions, 'seed' | 'beginnerShare'>,
): 'expert' | 'beginner' {
  const beginner = Rng.of('beginner', seed, conversation.split('/')[1] ?? '').chance(beginnerShare);
  return beginner ? 'beginner' : 'expert';
}

/**
 * Episodes on train tasks, one for each; failed ones are left out.
 *
 * @throws TurnwiseError `no-demonstrations` where none is left, `no-script`, `split-empty`
 */
export async function demonstrate(world: World, options: DemonstrationOptions): Promise<Trajectory[]> {
  const tasks = tasksOf(world, 'train');
  const requests = Array.from({ length: options.demonstrations }, (_, index) => ({
    id: `demonstration/${index}`,
    task: tasks.at(index % tasks.size),
    members: 1,
  }));
  const play = (some: readonly GroupRequest[], names?: AgentNames): Promise<Group[]> =>
    collectGroups(some, {
      ...(names && { names }),
      world,
      policy: scriptedPolicy(world, {
        player: (conversation) => demonstrator(conversation, options),
        randomRate: options.randomRate,
      }),
      renderer: textOnly,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: options.maxTurns,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: options.turnTimeoutMs,
      seed: options.seed,
      signal: options.signal,
      watch: options.watch,
      lockstep: new Lockstep(),
      concurrency: 64,
      ...(options.play ? { play: options.play } : {}),
      ...(options.onEpisode ? { onEpisode: options.onEpisode } : {}),
    });
  const groups: Group[] = [];
  if (options.exchanges) {
    for (const part of world.roles.keys()) {
      const some = requests.filter((_, index) => index % world.roles.length === part);
      groups.push(...(await play(some, agentNames(world.roles, part))));
    }
  } else groups.push(...(await play(requests)));
  const usable = groups
    .flatMap((group) => group.members)
    .filter((trajectory) => isTrainable(trajectory.stop) && trajectory.turns.length > 0);
  if (usable.length === 0) throw noDemonstrations(world, groups);
  return usable;
}

function noDemonstrations(world: World, groups: readonly Group[]): TurnwiseError {
  const [commonest] = [...failuresOf(groups.flatMap(({ members }) => members))].sort(([, a], [, b]) => b - a);
  return new TurnwiseError('no-demonstrations', {
    what: `No demonstration of ${world.name} could be used`,
    seen: commonest ? `${commonest[1]} × ${commonest[0]}` : 'episodes without turns',
    next: 'Mend the environment; brokenLaw() of turnwise/env checks one without training',
    fields: { environment: world.name },
  });
}

/**
 * The tokenizer of everything that was said, and the words of the longest action.
 *
 * @param textOf a message as the model reads it
 * @param further words that are needed besides
 */
export function learnVocabulary(
  demonstrations: readonly Trajectory[],
  textOf: (message: Message) => string = ({ content }) => content,
  further: readonly string[] = [],
): {
  readonly tokenizer: WordTokenizer;
  readonly maxActionWords: number;
} {
  const texts = new Set<string>(further);
  let maxActionWords = 1;
  for (const { turns } of demonstrations) {
    for (const turn of turns) {
      texts.add(turn.text);
      for (const message of turn.messages) texts.add(textOf(message));
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
  let past: History = { ids: [], messages: [] };
  const turns = demonstration.turns.map((turn) => {
    // An agent's further conversations begin anew.
    if (!turn.extendsPrevious) past = { ids: [], messages: [] };
    const context = strategy.next(past, turn.messages, renderer);
    const completion = renderer.completionIds(turn.text);
    const shown = [...past.messages, ...turn.messages];
    past = continued(context, shown, { ids: completion, text: turn.text });
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
