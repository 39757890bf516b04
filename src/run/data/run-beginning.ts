/** What a run begins with: demonstrations to imitate, recorded episodes to imitate or to learn from, or a warm start. */

import type { Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Message } from '../../core/messages.ts';
import { writeReply } from '../../core/word-reply.ts';
import type { World } from '../../env/world.ts';
import { taggedText, writtenBy } from '../../model/chat/renderer.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Learner } from '../../train/kit/learner.ts';
import type { Evaluations } from '../../train/loop/events.ts';
import type { Beginning } from '../../train/loop/loop.ts';
import { playsWith } from '../../train/recipes/recipe.ts';
import { tokenizerOfCard } from '../model/tokenizer-hash.ts';
import type { OpenIo } from '../run-io.ts';
import { namesRecorded, type RecordedData, recordedData } from './recorded-data.ts';
import { keptOf, type RecordedGroups, recordedGroups, successfulOf } from './recorded-episodes.ts';
import { learnableAlone } from './taught-episodes.ts';

/** Recorded episodes, and their groups in the words of small models, which learn their vocabulary from them. */
export interface OpenRecorded {
  readonly data: RecordedData;
  readonly groups: readonly Group[];
}

/** @throws TurnwiseError as `recordedData` */
export async function openRecorded(
  root: string,
  { data }: TrainConfig,
  world: World,
): Promise<OpenRecorded | undefined> {
  if (!namesRecorded(data)) return undefined;
  const found = await recordedData(root, data, world);
  const write = ({ content, toolCalls = [], ...rest }: Message): string =>
    world.agent ? writeReply({ content, toolCalls }) : taggedText({ content, toolCalls, ...rest });
  return { data: found, groups: found.read(write).groups };
}

interface BeginningParts {
  readonly learner: Learner;
  readonly demonstrations: readonly Group[];
  readonly warm: { readonly before?: Evaluations } | undefined;
  readonly recorded: OpenRecorded | undefined;
  readonly io: OpenIo;
}

/** How the run begins, and the episodes of its archive, which are stored. */
export async function beginningOf({
  learner,
  demonstrations,
  warm,
  recorded,
  io,
}: BeginningParts): Promise<{ readonly beginning: Beginning; readonly archived: readonly Group[] }> {
  const { config, recipe } = learner;
  const scripted = warm ? { imitate: { demonstrations: [] } } : { imitate: { demonstrations } };
  const start = warm?.before ? { before: warm.before } : scripted;
  if (recorded === undefined) {
    const given = config.data === 'demonstrations' ? demonstrations : [];
    const { groups } = await recordedGroups(learner, { groups: given, exact: new Set() });
    if (groups.length > 0) await io.writer.writeRecorded([...groups]);
    return { beginning: { ...start, recorded: keptOf(groups) }, archived: groups };
  }
  const tokenizer = tokenizerOfCard(learner.card);
  const read = recorded.data.read((message) => writtenBy(learner.renderer, message), tokenizer);
  const groups = await recordedGroups(learner, read);
  const found = learnableAlone(groups, recorded.data, { recipe, config, tokenizer });
  tell(recorded.data, found, learner.context.strategy.name, io);
  if (found.groups.length === 0) throw found.failures[0] ?? allTooLong(recorded.data, found, learner);
  const imitated = () => ({ imitate: { recorded: imitatedOf(found.groups, config, recorded.data.from) } });
  const { learnsFrom = 'played' } = recipe;
  if (learnsFrom === 'played' || (learnsFrom === 'either' && playsWith(recipe, config.data))) {
    return { beginning: warm ? start : imitated(), archived: [] };
  }
  const learned = learnsFrom === 'recorded' ? imitated().imitate.recorded : found.groups;
  await io.writer.writeRecorded([...learned]);
  // The warm start is of these episodes, too: scripts know more, and have only shown which words there are.
  const isGiven = warm !== undefined || config.clone.steps === 0;
  const begin = isGiven ? start : { imitate: { recorded: warmStartOf(found.groups, config) } };
  return { beginning: { ...begin, recorded: keptOf(learned) }, archived: learned };
}

/** Where nobody succeeded, as in what `kto` may learn from, all are: they show at least how a turn is written. */
function warmStartOf(groups: readonly Group[], { clone }: TrainConfig): readonly Group[] {
  const chosen = chosenOf(groups, clone);
  return chosen.length > 0 ? chosen : groups;
}

/** @throws TurnwiseError `rollouts-missing` where none is said to have succeeded */
function imitatedOf(groups: readonly Group[], { clone }: TrainConfig, from: string): readonly Group[] {
  const chosen = chosenOf(groups, clone);
  if (chosen.length > 0) return chosen;
  throw new TurnwiseError('rollouts-missing', {
    what: `No episode of ${from} succeeded, and only those that did are imitated`,
    seen: `${groups.reduce((sum, { members }) => sum + members.length, 0)} episodes without success`,
    next: 'Record more, imitate all with --set clone.from=all, or learn from the failures with --recipe kto',
    fields: { path: from },
  });
}

const chosenOf = (groups: readonly Group[], { from }: TrainConfig['clone']): readonly Group[] =>
  from === 'all' ? groups : successfulOf(groups);

function tell(
  { from, leftOut }: RecordedData,
  found: RecordedGroups & { readonly untaught: number },
  context: string,
  io: OpenIo,
): void {
  const { episodes, successful, exact, cut, tooLong, asked, failures, untaught } = found;
  const all = {
    ...leftOut,
    ...(untaught > 0 && { 'episodes without the likeliest tokens of a teacher': untaught }),
    ...(failures.length > 0 && { 'episodes in which the context failed': failures.length }),
    ...(tooLong > 0 && { 'episodes whose first turn does not fit the context': tooLong }),
  };
  io.event({ type: 'data', source: from, episodes, successful, exact, cut, leftOut: all });
  const parts = [
    ...Object.entries(all).map(([why, count]) => `${count} ${why} left out`),
    ...(cut > 0 ? [`${cut} episodes cut at a turn to fit the context`] : []),
    ...(asked > 0
      ? [
          `${asked} episodes read whole, since the context "${context}" asks the policy for what they do not have`,
        ]
      : []),
  ];
  if (parts.length > 0) io.event({ type: 'warning', code: 'data-left-out', message: parts.join('; ') });
}

function allTooLong({ from }: RecordedData, { tooLong }: RecordedGroups, { engine }: Learner): TurnwiseError {
  return new TurnwiseError('rollouts-missing', {
    what: `No episode of ${from} can be learned from`,
    seen: tooLong > 0 ? `${tooLong} episodes that do not fit the context` : 'no episodes with answers',
    allowed: `a first turn within ${engine.capabilities.contextLength} tokens`,
    next: 'Raise chat.contextLength, or record shorter conversations',
    fields: { path: from },
  });
}
