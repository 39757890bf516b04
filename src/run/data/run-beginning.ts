/** What a run begins with: demonstrations to imitate, recorded episodes to imitate or to learn from, or a warm start. */

import type { Episode, Group, Role } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Message } from '../../core/messages.ts';
import { writeReply } from '../../core/word-reply.ts';
import type { World } from '../../env/world.ts';
import { taggedText, writtenBy } from '../../model/chat/renderer.ts';
import { withoutCallsOf } from '../../synth/without-roles.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Learner } from '../../train/kit/learner.ts';
import { isImitated } from '../../train/loop/clone.ts';
import type { Evaluations } from '../../train/loop/events.ts';
import type { Beginning } from '../../train/loop/loop.ts';
import { playsWith } from '../../train/recipes/recipe.ts';
import { tokenizerOfCard } from '../model/tokenizer-hash.ts';
import type { OpenIo } from '../run-io.ts';
import { imitatedOf, unimitatedRoles, warmStartOf } from './imitated-episodes.ts';
import { isOwnRole, type Lesson } from './learned-answers.ts';
import { namesRecorded, type RecordedData, recordedData } from './recorded-data.ts';
import { keptOf, type RecordedGroups, recordedGroups } from './recorded-episodes.ts';
import { learnableAlone } from './taught-episodes.ts';

/** Recorded episodes, and their groups in the words of small models, which learn their vocabulary from them. */
export interface OpenRecorded {
  readonly data: RecordedData;
  readonly groups: readonly Group[];
}

/** @throws TurnwiseError as `recordedData` */
export async function openRecorded(
  root: string,
  config: TrainConfig,
  world: World,
): Promise<OpenRecorded | undefined> {
  if (!namesRecorded(config.data)) return undefined;
  const found = await recordedData(root, config, world);
  const write = ({ content, toolCalls = [], ...rest }: Message): string =>
    world.agent ? writeReply({ content, toolCalls }) : taggedText({ content, toolCalls, ...rest });
  // What others said is read in what the environment shows.
  const words = (episode: Episode): Episode =>
    withoutCallsOf(episode, (role) => !found.isLearned(episode, role));
  const { groups } = found.read(write);
  return {
    data: found,
    groups: groups.map((group) => ({ ...group, members: group.members.map(words) })),
  };
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
  const { learnsFrom = 'played' } = recipe;
  const scripted = warm ? { imitate: { demonstrations: [] } } : { imitate: { demonstrations } };
  const start = warm?.before ? { before: warm.before } : scripted;
  if (recorded === undefined) {
    const given = config.data === 'demonstrations' ? demonstrations : [];
    const { groups } = await recordedGroups(learner, { groups: given, exact: new Set() }, ofScripts(learner));
    if (groups.length > 0) await io.writer.writeRecorded([...groups]);
    return { beginning: { ...start, recorded: keptOf(groups) }, archived: groups };
  }
  const tokenizer = tokenizerOfCard(learner.card);
  const { from, read, isLearned } = recorded.data;
  const rows = read((message) => writtenBy(learner.renderer, message), tokenizer);
  const groups = await recordedGroups(learner, rows, { roles: isLearned });
  const found = learnableAlone(groups, recorded.data, { recipe, config, tokenizer });
  tell(recorded.data, found, learner.context.strategy.name, io);
  if (found.groups.length === 0) throw found.failures[0] ?? nothingLeft(recorded.data, found, learner);
  const imitated = (): readonly Group[] => {
    const chosen = imitatedOf(found.groups, config, from);
    tellUnimitated(unimitatedRoles(found.groups, chosen), io);
    return chosen;
  };
  if (learnsFrom === 'played' || (learnsFrom === 'either' && playsWith(recipe, config.data))) {
    return { beginning: warm ? start : { imitate: { recorded: imitated() } }, archived: [] };
  }
  const learned = learnsFrom === 'either' ? found.groups : imitated();
  await io.writer.writeRecorded([...learned]);
  // The warm start is of these episodes, too: scripts know more, and have only shown which words there are.
  const isGiven = warm !== undefined || config.clone.steps === 0;
  const shown = learnsFrom === 'either' ? warmStartOf(learned, config) : learned;
  const begin = isGiven ? start : { imitate: { recorded: shown } };
  return { beginning: { ...begin, recorded: keptOf(learned) }, archived: learned };
}

/** What is learned of demonstrations. Where they are imitated, a random move may be there only to lead to other states. */
function ofScripts({ config, recipe: { learnsFrom }, world }: Learner): Lesson {
  const imitates = learnsFrom === 'recorded' || learnsFrom === 'both';
  return {
    roles: (_, role) => isOwnRole(role, world, config),
    ...(imitates && { answers: (call) => isImitated(call, config.clone) }),
  };
}

function tellUnimitated(roles: readonly Role[], io: OpenIo): void {
  if (roles.length === 0) return;
  const message = `Nobody succeeded as ${roles.join(' or ')}, so nothing that was done in this role is imitated; clone.from=all imitates all`;
  io.event({ type: 'warning', code: 'data-left-out', message });
}

function tell(
  { from, leftOut }: RecordedData,
  found: RecordedGroups & { readonly untaught: number },
  context: string,
  io: OpenIo,
): void {
  const { episodes, successful, exact, cut, tooLong, asked, others, failures, untaught } = found;
  const all = {
    ...leftOut,
    ...(others > 0 && { 'answers of other players': others }),
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

function nothingLeft(
  { from }: RecordedData,
  { tooLong, others }: RecordedGroups,
  { engine }: Learner,
): TurnwiseError {
  const rest =
    tooLong === 0 && others > 0
      ? {
          seen: `${others} answers of other players`,
          allowed: 'answers in a role that a learner played there, and plays here',
          next: 'Imitate other players from a file: turnwise data convert',
        }
      : {
          seen: tooLong > 0 ? `${tooLong} episodes that do not fit the context` : 'no episodes with answers',
          allowed: `a first turn within ${engine.capabilities.contextLength} tokens`,
          next: 'Raise chat.contextLength, or record shorter conversations',
        };
  return new TurnwiseError('rollouts-missing', {
    what: `No episode of ${from} can be learned from`,
    ...rest,
    fields: { path: from },
  });
}
