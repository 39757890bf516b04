/** Demonstrations: episodes played by an environment's scripts, with mistakes mixed in so that something is left to learn. */

import type { Call, Episode, EpisodeKey, Group, Role } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { Message } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { isTrainable } from '../core/stop.ts';
import { parseReply } from '../core/word-reply.ts';
import { readTask, tasksOf } from '../env/tasks/split.ts';
import type { World } from '../env/world.ts';
import { isCompletion, type Renderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { Lockstep } from '../policy/lockstep.ts';
import { scriptedPolicy } from '../policy/scripted.ts';
import { type Player, seatedPolicy } from '../policy/seated.ts';
import { type AgentNames, agentNames } from '../rollout/agent-names.ts';
import { collectGroups, failuresOf, type GroupToPlay, type Play } from '../rollout/collect.ts';
import { fullContext } from '../rollout/context/contexts.ts';
import type { Context } from '../rollout/context/strategy.ts';
import type { TurnRules } from '../rollout/turns/turn-control.ts';
import type { Watch } from '../rollout/watch.ts';
import { withoutCallsOf } from './without-roles.ts';

export interface DemonstrationOptions {
  readonly demonstrations: number;
  readonly beginnerShare: number;
  readonly randomRate: number;
  readonly seed: number;
  readonly maxTurns: number;
  readonly turnTimeoutMs: number;
  /** What players read, and what they are asked for. Default: all turns. */
  readonly context?: Context;
  /** What comes after each of their turns, where a control changes what is read or written. */
  readonly turns?: TurnRules;
  /** Agents that exchange roles are shown with all of them. Default: agents have no names. */
  readonly exchanges?: boolean;
  readonly signal: AbortSignal;
  readonly watch: Watch;
  /** Plays the demonstrations, where the world's scripts do not. */
  readonly play?: Play;
  /** Players of roles that are not shown: simulated users. */
  readonly users?: ReadonlyMap<Role, Player>;
  readonly onEpisode?: (done: number, total: number) => void;
}

/**
 * Text only: the tokenizer is made from these, so there are no ids yet. Small models read a token a word, and a mark on either
 * side of a completion.
 */
const wordsOnly: Renderer = {
  stopIds: [],
  maxTurnTokens: 1,
  pieces: (said) => said,
  more: (_completion, fresh) => fresh,
  ids: () => [],
  size: (piece) => {
    if (typeof piece === 'string' || 'of' in piece) return 0;
    return isCompletion(piece) ? wordsIn(piece.text) + 2 : wordsIn(piece.content);
  },
  completionIds: () => [],
  text: () => '',
  answer: (text) => text,
  read: parseReply,
};

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

/** Who plays this demonstration. */
export function demonstrator(
  { group }: EpisodeKey,
  { seed, beginnerShare }: Pick<DemonstrationOptions, 'seed' | 'beginnerShare'>,
): 'expert' | 'beginner' {
  const beginner = Rng.of('beginner', seed, group).chance(beginnerShare);
  return beginner ? 'beginner' : 'expert';
}

/**
 * Episodes on train tasks, one for each; failed ones are left out.
 *
 * @throws TurnwiseError `no-demonstrations` where none is left, `no-script`, `split-empty`
 */
export async function demonstrate(world: World, options: DemonstrationOptions): Promise<Group[]> {
  const { users = new Map() } = options;
  const tasks = tasksOf(world, 'train');
  const requests = Array.from({ length: options.demonstrations }, (_, index) => ({
    step: 0,
    group: index,
    split: 'train' as const,
    index: index % tasks.size,
    ...readTask(world, tasks, index % tasks.size),
    members: 1,
  }));
  const play = (some: readonly GroupToPlay[], names?: AgentNames): Promise<Group[]> =>
    collectGroups(some, {
      ...(names && { names }),
      world,
      policy: seatedPolicy(
        scriptedPolicy(world, {
          player: (key) => demonstrator(key, options),
          randomRate: options.randomRate,
        }),
        users,
      ),
      renderer: wordsOnly,
      context: options.context ?? fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: options.maxTurns,
      ...(options.turns && { turns: options.turns }),
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: options.turnTimeoutMs,
      seed: options.seed,
      signal: options.signal,
      watch: options.watch,
      batching: new Lockstep(),
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
    .map((group) => ({
      ...group,
      members: group.members
        .filter(({ stop, calls }) => isTrainable(stop) && calls.length > 0)
        .map((episode) => withoutRoles(episode, users)),
    }))
    .filter(({ members }) => members.length > 0);
  if (usable.length === 0) throw noDemonstrations(world, groups);
  return usable;
}

/** What the other roles said; what was done in these stays, as far as it paid them. */
function withoutRoles(episode: Episode, left: ReadonlyMap<Role, Player>): Episode {
  if (left.size === 0) return episode;
  const shown = <T>(byRole: Readonly<Record<Role, T>>): Record<Role, T> =>
    Object.fromEntries(Object.entries(byRole).filter(([role]) => !left.has(role)));
  return {
    ...withoutCallsOf(episode, (role) => left.has(role)),
    seats: shown(episode.seats),
    outcome: shown(episode.outcome),
    success: shown(episode.success),
  };
}

function noDemonstrations(world: World, groups: readonly Group[]): TurnwiseError {
  const [commonest] = [...failuresOf(groups.flatMap(({ members }) => members))].sort(([, a], [, b]) => b - a);
  return new TurnwiseError('no-demonstrations', {
    what: `No demonstration of ${world.name} could be used`,
    seen: commonest ? `${commonest[1]} × ${commonest[0]}` : 'episodes without turns',
    next: 'Correct the environment; brokenLaw() of turnwise/env checks one without training',
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
  demonstrations: readonly Group[],
  textOf: (message: Message) => string = ({ content }) => content,
  further: readonly string[] = [],
): {
  readonly tokenizer: WordTokenizer;
  readonly maxActionWords: number;
} {
  const texts = new Set<string>(further);
  let maxActionWords = 1;
  for (const { text, messages, parts = [], purpose } of demonstrations.flatMap(callsOf)) {
    if (purpose === 'consult') continue;
    texts.add(text);
    const said = parts.flatMap((part) => ('content' in part ? [part] : []));
    for (const message of [...messages, ...said]) texts.add(textOf(message));
    maxActionWords = Math.max(maxActionWords, text.trim().split(/\s+/).length);
  }
  return { tokenizer: WordTokenizer.fromTexts(texts), maxActionWords };
}

/** All completions of a group's episodes. */
export const callsOf = ({ members }: Group): readonly Call[] => members.flatMap(({ calls }) => calls);

/** The same episode, with all that scripts wrote in the policy's place to be learned from. */
export function asTrained(episode: Episode): Episode {
  return {
    ...episode,
    calls: episode.calls.map((call) => (isOthers(call) ? call : { ...call, trainable: true })),
  };
}

/** Whether another player said it: a simulated user, or a model that an agent asked. */
const isOthers = ({ trainable }: Call): boolean => trainable === 'other-model';
