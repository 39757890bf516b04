/** Annotations as rows to learn from: what was judged has the judgement as its only reward, a correction is a pair. */

import type { Episode, Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { chainOf, roleGroups } from '../../core/trajectory.ts';
import type { ConversationRow, PreferenceRow, Row } from '../../data/row.ts';
import { rowsOfEpisode } from '../../data/rows-of-episode.ts';
import type { Annotation } from '../annotation.ts';
import type { JudgedRun, JudgementUse } from '../shapes.ts';
import { readAnnotations } from './annotations.ts';
import { memberAt } from './episode.ts';
import { Groups, type ReadGroup } from './groups.ts';
import type { RunsFolder } from './runs-folder.ts';
import type { WatchedRun } from './watched-run.ts';

export interface JudgedRows {
  /** A conversation for each verdict, a pair for each correction. */
  readonly rows: readonly Row[];
  /** Corrections: the corrected turn, and the same turn as it was. */
  readonly pairs: number;
  /** Judgements of test tasks, which nothing may learn from, and notes alone. */
  readonly unused: number;
}

/** An annotation, and the rows that it makes. */
interface Judged {
  readonly annotation: Annotation;
  readonly use: JudgementUse;
  readonly rows: readonly Row[];
  readonly task: Json;
}

export async function judgedRows(run: WatchedRun): Promise<JudgedRows> {
  const all = await judgedBy(run);
  return {
    rows: all.flatMap(({ rows }) => rows),
    pairs: all.filter(({ use }) => use === 'pair').length,
    unused: all.filter(({ rows }) => rows.length === 0).length,
  };
}

/** The same for the page, with the commands that go on from there. */
export async function judgedRun(folder: RunsFolder, run: WatchedRun): Promise<JudgedRun> {
  const all = await judgedBy(run);
  const rows = all.reduce((sum, one) => sum + one.rows.length, 0);
  const pairs = all.filter(({ use }) => use === 'pair').length;
  const { source } = run.config().world;
  // Pairs teach preferences; conversations with a reward of 1 are imitated.
  const recipe = pairs > 0 ? 'dpo' : 'filtered-bc';
  return {
    judgements: all.map((one) => ({ ...one, rows: one.rows.length })),
    rows,
    pairs,
    commands: [
      folder.command(`view ${run.name} --annotations judged.jsonl`),
      folder.command(`train ${source} --recipe ${recipe} --set data=judged.jsonl`),
    ],
  };
}

async function judgedBy(run: WatchedRun): Promise<Judged[]> {
  const groups = new Groups();
  const all: Judged[] = [];
  for (const annotation of readAnnotations(run)) all.push(await judgedAs(run, groups, annotation));
  return all;
}

async function judgedAs(run: WatchedRun, groups: Groups, annotation: Annotation): Promise<Judged> {
  const { place, group, member, label, verdict, correction } = annotation;
  const none = { annotation, rows: [] };
  let read: ReadGroup;
  try {
    read = await groups.read(run, place, group, label);
  } catch (error) {
    if (!TurnwiseError.isInstance(error) || error.code !== 'episode-unknown') throw error;
    return { ...none, use: 'gone', task: null };
  }
  const episode = whole(read.group, memberAt(read, member));
  const { task, key } = episode;
  if (key.split !== 'train') return { ...none, use: 'test', task };
  if (!verdict && !correction) return { ...none, use: 'note', task };
  if (correction) {
    const upTo = turnsOf(read.group, member)[correction.turn];
    const pair = upTo === undefined ? undefined : pairOf(episode, upTo, correction.action, run.name);
    return pair ? { annotation, use: 'pair', rows: [pair], task } : { ...none, use: 'no-pair', task };
  }
  const up = judged(episode, verdict === 'up' ? 1 : 0);
  const rows = rowsOfEpisode(up, up, { kind: 'annotation', run: run.name });
  return { annotation, use: 'conversation', rows, task };
}

/** What should have been done at a turn, and what was; undefined where the turn has no answer to compare. */
function pairOf(episode: Episode, upTo: number, action: string, run: string): PreferenceRow | undefined {
  const about = { kind: 'annotation' as const, run };
  const [right, wrong] = [corrected(episode, upTo, action), cut(episode, upTo)].map((one) =>
    rowsOfEpisode(one, one, about),
  );
  const at = right!.findIndex((row, index) => lastOf(row) !== lastOf(wrong![index]));
  const [better, worse] = [right![at], wrong![at]];
  if (better === undefined || worse === undefined) return undefined;
  const { reward: _, success: __, tokens: ___, messages, ...rest } = better;
  return {
    ...rest,
    messages: messages
      .slice(0, -1)
      .map((message) => (message.role === 'assistant' ? { ...message, weight: 0 as const } : message)),
    chosen: messages.slice(-1),
    rejected: worse.messages.slice(-1),
  };
}

const lastOf = (row: ConversationRow | undefined): string => JSON.stringify(row?.messages.at(-1));

/** Indices of the transitions of each turn, in the order of the page. */
function turnsOf(group: Group, member: number): number[] {
  const { transitions } = chainOf(group, group.members[member]!);
  return roleGroups([group])
    .flatMap(({ members }) => members[member]?.turns ?? [])
    .flatMap(({ transition }) => (transition ? [transition] : []))
    .sort((a, b) => a.at - b.at)
    .map((transition) =>
      transitions.findIndex((one) => one.at === transition.at && one.role === transition.role),
    );
}

function whole(group: Group, episode: Episode): Episode {
  const { branchedFrom: _, credit: __, ...rest } = episode;
  const { calls, transitions } = chainOf(group, episode);
  return { ...rest, calls, transitions };
}

/** Up to a transition, and it too. */
function cut(episode: Episode, transition: number): Episode {
  const { closing: _, failure: __, ...rest } = episode;
  const transitions = episode.transitions.slice(0, transition + 1);
  const last = transitions.at(-1)?.call ?? -1;
  return { ...rest, transitions, calls: episode.calls.filter(({ id }) => id <= last), stop: 'early-stop' };
}

/** The action stands where the other one stood, in whatever form the protocol has around it. */
function corrected(episode: Episode, transition: number, action: string): Episode {
  const rest = cut(episode, transition);
  const wrong = rest.transitions[transition]!;
  return {
    ...rest,
    transitions: [...rest.transitions.slice(0, transition), { ...wrong, action, valid: true }],
    calls: rest.calls.map((call) => {
      if (call.id !== wrong.call) return call;
      const { reply: _, problem: __, ...kept } = call;
      const at = wrong.action === '' ? -1 : call.text.lastIndexOf(wrong.action);
      const text =
        at < 0 ? action : call.text.slice(0, at) + action + call.text.slice(at + wrong.action.length);
      return {
        ...kept,
        ...{ text, ids: new Int32Array(0), logprobs: new Float32Array(0), finish: 'none' as const },
        ...{ by: { kind: 'person' as const, name: 'person', version: 0 }, trainable: 'person' as const },
      };
    }),
  };
}

function judged(episode: Episode, value: number): Episode {
  const everyRole = <T>(of: T): Record<string, T> =>
    Object.fromEntries(Object.keys(episode.outcome).map((role) => [role, of]));
  return {
    ...episode,
    transitions: episode.transitions.map((transition) => ({ ...transition, rewards: {} })),
    scores: [{ by: 'person', rewards: everyRole(value) }],
    outcome: everyRole(value),
    success: everyRole(value > 0),
  };
}
