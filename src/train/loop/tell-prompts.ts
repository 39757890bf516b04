/** Prompts of a step: what its groups are to read, and what the source of prompts makes of how they went. */

import type { Episode, Group } from '../../core/episode.ts';
import { isPlayedIn } from '../../core/episode-key.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import type { Message } from '../../core/messages.ts';
import { hash32, Rng } from '../../core/rng.ts';
import { thrownText } from '../../core/safe-text.ts';
import { mean } from '../../core/statistics.ts';
import { usableGroups } from '../../curation/usable.ts';
import { outcomesOf } from '../../prompts/outcomes.ts';
import type { PromptedGroup } from '../../prompts/prompt-source.ts';
import type { Learner } from '../kit/learner.ts';
import type { Metrics, PromptsEvent, StoredEvent } from './events.ts';
import type { Memory } from './learn-step.ts';

type Prompting = Pick<Learner, 'config' | 'prompts' | 'proposer'>;

/** The prompt of each group of a step; '' is none. */
export function promptsOf(
  { config, prompts }: Prompting,
  step: number,
  { prompts: memory }: Pick<Memory, 'prompts'>,
): (group: number) => string {
  return (group) => prompts.ask({ step, group, memory, rng: Rng.of('prompt', config.seed, step, group) });
}

export interface Told {
  readonly memory: Json;
  readonly metrics: Metrics;
  readonly events: readonly StoredEvent[];
}

/**
 * The memory of the source of prompts after a step. A proposer that fails is a warning: the source goes on without its answer.
 *
 * @param groups of the step, with their credit
 * @param logged texts that the log has; those of this step are added
 * @throws TurnwiseError `definition-invalid`, `definition-failed` of the source itself, `spend-limit`
 */
export async function tellPrompts(
  { config, prompts, proposer }: Prompting,
  groups: readonly Group[],
  memory: Json,
  step: number,
  signal: AbortSignal,
  logged: Set<string> = new Set(),
): Promise<Told> {
  if (config.prompts.name === 'none') return { memory, metrics: {}, events: [] };
  const told = promptedGroups(groups);
  const failures = new Map<string, number>();
  const writers = new Set<string>();
  let calls = 0;
  const propose = async (messages: readonly Message[]): Promise<string | undefined> => {
    if (!proposer) return undefined;
    const call = calls++;
    try {
      const { text, by } = await proposer(messages, { step, call, signal });
      writers.add(by);
      return text;
    } catch (error) {
      if (signal.aborted) throw error;
      if (TurnwiseError.isInstance(error) && error.code === 'spend-limit') throw error;
      const said = TurnwiseError.isInstance(error) ? error.message : thrownText(error);
      failures.set(said, (failures.get(said) ?? 0) + 1);
      return undefined;
    }
  };
  const rng = Rng.of('tell', config.seed, step);
  const next = prompts.tell ? await prompts.tell(told, { step, memory, rng, propose, signal }) : memory;
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
  return {
    memory: next,
    metrics: {
      'prompts/used': new Set(told.map(({ prompt }) => prompt)).size,
      'prompts/characters': prompts.best(next).length,
      ...(proposer && { 'prompts/proposals': calls, 'prompts/failed': failed }),
    },
    events: [
      ...[...failures].map(
        ([said, count]): StoredEvent => ({
          type: 'warning',
          code: 'proposer-failed',
          message: `step ${step}: ${count} × the proposer of prompts gave no answer: ${said}`,
        }),
      ),
      eventOf(told, step, prompts.best(memory), prompts.best(next), logged, [...writers]),
    ],
  };
}

/** What the prompts of a step earned. */
function eventOf(
  told: readonly PromptedGroup[],
  step: number,
  before: string,
  best: string,
  logged: Set<string>,
  by: readonly string[],
): PromptsEvent {
  const texts = [...new Set([...told.map(({ prompt }) => prompt), best])];
  const used = texts.flatMap((text) => {
    const own = told.filter(({ prompt }) => prompt === text).map(({ group }) => group);
    if (own.length === 0) return [];
    const successes = own.flatMap(({ members }) => members.flatMap(({ success }) => Object.values(success)));
    return [
      {
        prompt: nameOf(text),
        groups: own.length,
        return: mean(own.map((group) => mean(outcomesOf(group)))),
        success: mean(successes.map(Number)),
      },
    ];
  });
  const fresh = texts.filter((text) => !logged.has(text));
  for (const text of fresh) logged.add(text);
  return {
    ...{ type: 'prompts', step, used, best: nameOf(best) },
    ...(before !== best && { changed: true }),
    ...(by.length > 0 && { by }),
    texts: Object.fromEntries(fresh.map((text) => [nameOf(text), text])),
  };
}

/** The name of a text in the log. */
const nameOf = (text: string): string =>
  [1, 2].map((seed) => hash32(text, seed).toString(16).padStart(8, '0')).join('');

/** The groups of the step, without failed episodes and those that a curation inserted. */
export function promptedGroups(groups: readonly Group[]): PromptedGroup[] {
  // Episodes that go on from a place of an earlier step read what was asked for then.
  const isPrompted = (episode: Episode, group: Group): boolean =>
    isPlayedIn(group, episode) && !episode.startedAt;
  return usableGroups(groups, isPrompted).map((group) => ({
    prompt: group.members[0]?.prompt ?? '',
    group,
  }));
}
