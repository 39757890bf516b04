/** Episodes of a run that goes on in this thread, as the viewer's pages read them. Old steps are thinned out. */

import type { Group, StepCredit } from '../../core/episode.ts';
import { isTrainable } from '../../core/stop.ts';
import { shownEpisode } from '../../view/server/episode.ts';
import { outlineOf } from '../../view/server/outline.ts';
import { shardAt } from '../../view/server/step-episodes.ts';
import type { PlayedEpisodes } from '../train.ts';
import type { ListedEpisodes } from './messages.ts';

interface Kept {
  readonly label: PlayedEpisodes['label'];
  readonly groups: readonly Group[];
  readonly credit?: StepCredit;
}

/** Groups of an evaluation, and of a step, that are kept and listed. */
const mostGroups = 24;
const mostSteps = 12;

export class KeptEpisodes {
  /** By place, `12` or `evaluation-12`, and label. */
  readonly #kept = new Map<string, Kept>();
  readonly #steps: number[] = [];
  /** Steps between those that are kept; doubled when there are too many. */
  #every = 1;
  readonly #words: () => readonly string[];

  constructor(words: () => readonly string[]) {
    this.#words = words;
  }

  add({ step, label, groups, credit }: PlayedEpisodes): ListedEpisodes {
    const some = groups.slice(0, mostGroups);
    if (label === 'training') this.#thin(step);
    this.#kept.set(keyOf(step, label), { label, groups: some, ...(credit && { credit }) });
    return {
      step,
      label,
      groups: some.map(({ group, members }) => ({
        group,
        task: members[0]?.task ?? null,
        members: members.map(({ success, stop }, member) => ({
          member,
          success: Object.values(success).some(Boolean),
          failed: !isTrainable(stop),
        })),
      })),
      more: groups.length - some.length,
    };
  }

  /** What a server of the viewer would answer; undefined where nothing is kept. */
  answer(path: string): unknown {
    const url = new URL(path, 'http://run');
    const [, place, group, member] =
      /\/places\/([\w-]+)\/groups\/(\d+)(?:\/members\/(\d+))?$/.exec(url.pathname) ?? [];
    if (place === undefined) return undefined;
    const label = url.searchParams.get('label') ?? 'training';
    const kept = this.#kept.get(`${place} ${label}`);
    const found = kept?.groups.find((one) => one.group === Number(group));
    if (kept === undefined || found === undefined) return undefined;
    const stored = {
      ...{ shard: shardAt(place), offset: 0, length: 0, group: found.group },
      ...{ label: kept.label, records: [] },
    };
    const read = { stored, group: found };
    if (member === undefined) return outlineOf(read);
    if (found.members[Number(member)] === undefined) return undefined;
    const words = this.#words();
    return shownEpisode({
      read,
      member: Number(member),
      pieces: { joint: ' ', of: (ids) => Array.from(ids, (id) => words[id] ?? `<${id}>`) },
      header: kept.credit && ({ credit: kept.credit } as Parameters<typeof shownEpisode>[0]['header']),
    });
  }

  /** Makes room for a step: the latest and every so manieth stay. */
  #thin(step: number): void {
    const last = this.#steps.at(-1);
    if (last !== undefined && last % this.#every !== 0) this.#drop(last);
    this.#steps.push(step);
    while (this.#steps.length > mostSteps) {
      this.#every *= 2;
      for (const old of [...this.#steps]) if (old !== step && old % this.#every !== 0) this.#drop(old);
    }
  }

  #drop(step: number): void {
    this.#kept.delete(keyOf(step, 'training'));
    this.#steps.splice(this.#steps.indexOf(step), 1);
  }
}

const keyOf = (step: number, label: string): string =>
  label === 'training' ? `${step} training` : `evaluation-${step} ${label}`;
