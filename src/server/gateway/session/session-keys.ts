/** Keys of the episodes that sessions over HTTP become: those of equal tasks are a group. */

import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { EpisodeKey } from '../../../core/episode.ts';
import { canonicalJson, type Json } from '../../../core/json/json.ts';

type SessionKey = Pick<EpisodeKey, 'task' | 'group' | 'member'>;

export class SessionKeys {
  readonly #environment: string;
  readonly #groups: Map<string, { readonly group: number; members: number }> = new Map();
  #next = 0;

  constructor(environment: string) {
    this.#environment = environment;
  }

  /** Keys that go on after the episodes that a file of them has already, if it is there. */
  static async after(path: string, environment: string): Promise<SessionKeys> {
    const keys = new SessionKeys(environment);
    if (!existsSync(path)) return keys;
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const key = keyIn(line);
      if (key) keys.#count(key);
    }
    return keys;
  }

  /** @param task without one a session is a group of its own */
  next(task: Json | undefined): EpisodeKey {
    const name = task === undefined ? `none-${this.#next}` : hashOf(task);
    const { group, members } = this.#groups.get(name) ?? { group: this.#next, members: 0 };
    const key: EpisodeKey = {
      step: 0,
      environment: this.#environment,
      split: 'train',
      task: name,
      group,
      member: members,
    };
    this.#count(key);
    return key;
  }

  #count({ task, group, member }: SessionKey): void {
    const { members = 0 } = this.#groups.get(String(task)) ?? {};
    this.#groups.set(String(task), { group, members: Math.max(members, member + 1) });
    this.#next = Math.max(this.#next, group + 1);
  }
}

const hashOf = (task: Json): string =>
  createHash('sha256').update(canonicalJson(task)).digest('hex').slice(0, 16);

/** A line that is cut off, or of another kind, has none. */
function keyIn(line: string): SessionKey | undefined {
  try {
    const { source } = JSON.parse(line) as { readonly source?: { readonly episode?: Partial<SessionKey> } };
    const { group, member } = source?.episode ?? {};
    return Number.isInteger(group) && Number.isInteger(member) ? (source?.episode as SessionKey) : undefined;
  } catch {
    return undefined;
  }
}
