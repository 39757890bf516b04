/** Episodes that are played to be recorded: each is in the file as soon as it ends, and none is played that the file has. */

import { existsSync } from 'node:fs';
import type { Episode, EpisodeKey } from '../../core/episode.ts';
import { canonicalJson } from '../../core/json/json.ts';
import { isTrainable, type StopReason } from '../../core/stop.ts';
import { episodesOfRows } from '../../data/episodes-of-rows.ts';
import { readRows } from '../../data/read-rows.ts';
import { type ConversationRow, isPreference } from '../../data/row.ts';
import { type RowsAbout, rowsOfEpisode } from '../../data/rows-of-episode.ts';
import { appendRows, endLine } from '../../data/write-rows.ts';
import { AGENT } from '../../env/session.ts';
import type { World } from '../../env/world.ts';
import { taggedText } from '../../model/chat/renderer.ts';
import type { Play } from '../../rollout/collect.ts';

export interface RecordingOptions {
  readonly file: string;
  readonly world: World;
  /** Who plays: the name that rows give it. */
  readonly by: string;
  readonly run?: string;
  readonly tokenizer?: string;
}

export class EpisodeRecording {
  readonly #options: RecordingOptions;
  /** Episodes of the file, by name. */
  readonly #known: Map<string, ConversationRow[]> = new Map();
  readonly #taken: Set<string> = new Set();

  /** @throws TurnwiseError `data-invalid` where the file holds something else */
  constructor(options: RecordingOptions) {
    this.#options = options;
    if (!existsSync(options.file)) return;
    endLine(options.file);
    for (const { row } of readRows(options.file)) {
      if (isPreference(row)) continue;
      const { kind, by, environment, episode, stop = 'done' } = row.source;
      const isOurs = kind === 'eval' && by === options.by && environment === options.world.name;
      if (!isOurs || episode === undefined || !isTrainable(stop as StopReason)) continue;
      const name = nameOf(row.source.split ?? '', row.source.label ?? '', episode);
      this.#known.set(name, [...(this.#known.get(name) ?? []), row]);
    }
  }

  /** Plays what the file does not have. */
  playing(play: Play, label: string): Play {
    return async (request, options) => {
      const { key, task } = request;
      const name = nameOf(key.split, label, key);
      const rows = this.#known.get(name);
      const isSame = rows?.every((row) => canonicalJson(row.task ?? null) === canonicalJson(task));
      if (rows === undefined || !isSame) return play(request, options);
      const { world } = this.#options;
      const reading = { environment: world.name, role: world.roles[0] ?? AGENT, write: taggedText };
      const [group] = episodesOfRows(rows, reading).groups;
      this.#taken.add(name);
      return { ...group!.members[0]!, key };
    };
  }

  /** How many episodes were taken from the file. */
  get resumed(): number {
    return this.#taken.size;
  }

  /** Keep an episode that has ended, unless it is from the file. */
  keep(episode: Episode, label: string): void {
    if (this.#taken.has(nameOf(episode.key.split, label, episode.key))) return;
    const { run, tokenizer, file, by } = this.#options;
    const about: RowsAbout = {
      kind: 'eval',
      label,
      ...(run !== undefined && { run }),
      ...(tokenizer !== undefined && { tokenizer }),
    };
    const rows = rowsOfEpisode(episode, episode, about);
    appendRows(
      file,
      rows.map((row) => ({ ...row, source: { ...row.source, by } })),
    );
  }
}

const nameOf = (split: string, label: string, key: Pick<EpisodeKey, 'task' | 'group' | 'member'>): string =>
  JSON.stringify([split, label, key.task, key.group, key.member]);
