/** Saved weights on disk: `<root>/<model>/<kind>/<name>/`, each with a `tinker.json` that says what it is. */

import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { invalid, unknown } from './refusals.ts';

/** `ephemeral` ones belong to a sampling session and are listed nowhere. */
export type CheckpointKind = 'weights' | 'sampler_weights' | 'ephemeral';

export interface CheckpointPlace {
  readonly modelId: string;
  readonly kind: CheckpointKind;
  readonly name: string;
}

const cardSchema = z.object({
  modelId: z.string(),
  baseModel: z.string(),
  isLora: z.boolean(),
  rank: z.int(),
  targets: z.enum(['attention', 'mlp', 'all']),
  time: z.string(),
  /** When it is deleted. */
  expiresAt: z.string().optional(),
  /** As its owner marked it; whoever has the key of the server may read it anyway. */
  isPublic: z.boolean().optional(),
});
export type CheckpointCard = z.output<typeof cardSchema>;

export interface ListedCheckpoint extends CheckpointPlace {
  readonly card: CheckpointCard;
  readonly bytes: number;
}

const cardFile = 'tinker.json';
const idPattern = /^[a-zA-Z0-9_:-]+$/;
const namePattern = /^[a-zA-Z0-9_-]+$/;

export class Checkpoints {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** A colon is no letter of a file name everywhere. */
  folder({ modelId, kind, name }: CheckpointPlace): string {
    return join(this.#root, modelId.replaceAll(':', '~'), kind, name);
  }

  /** `save` makes the folder; it is called before anything is waited for. */
  async write(
    place: CheckpointPlace,
    card: CheckpointCard,
    save: (folder: string) => Promise<void>,
  ): Promise<void> {
    const folder = this.folder(place);
    await save(folder);
    // Written last: without it the folder is no checkpoint.
    await writeFile(join(folder, cardFile), JSON.stringify(card));
  }

  async find(place: CheckpointPlace): Promise<CheckpointCard | undefined> {
    let card: CheckpointCard;
    try {
      card = cardSchema.parse(JSON.parse(await readFile(join(this.folder(place), cardFile), 'utf8')));
    } catch {
      return undefined;
    }
    if (card.expiresAt === undefined || Date.parse(card.expiresAt) > Date.now()) return card;
    await this.delete(place);
    return undefined;
  }

  /** Changes what is noted of a checkpoint. @throws TurnwiseError `request-unknown` */
  async mark(place: CheckpointPlace, change: (card: CheckpointCard) => CheckpointCard): Promise<void> {
    const card = await this.require(place);
    await writeFile(join(this.folder(place), cardFile), JSON.stringify(change(card)));
  }

  /** @throws TurnwiseError `request-unknown` */
  async require(place: CheckpointPlace): Promise<CheckpointCard> {
    const card = await this.find(place);
    if (card === undefined) throw unknown('Checkpoint', `${place.modelId}/${place.name}`);
    return card;
  }

  async delete(place: CheckpointPlace): Promise<void> {
    await rm(this.folder(place), { recursive: true, force: true });
  }

  /** Deletes what belongs to the sampling sessions of a model. */
  async deleteEphemeral(modelId: string): Promise<void> {
    await rm(join(this.#root, modelId.replaceAll(':', '~'), 'ephemeral'), { recursive: true, force: true });
  }

  async list(modelId: string): Promise<ListedCheckpoint[]> {
    if (!idPattern.test(modelId)) return [];
    const found: ListedCheckpoint[] = [];
    for (const kind of ['weights', 'sampler_weights'] as const) {
      const names = await readdir(join(this.#root, modelId.replaceAll(':', '~'), kind)).catch(() => []);
      for (const name of names.sort()) {
        const place = { modelId, kind, name };
        const card = await this.find(place);
        if (card !== undefined) found.push({ ...place, card, bytes: await this.#size(place) });
      }
    }
    return found;
  }

  /** Those of all models, the newest first; whatever has expired is deleted on the way. */
  async all(): Promise<ListedCheckpoint[]> {
    const models = await readdir(this.#root).catch(() => []);
    const listed = await Promise.all(models.map((name) => this.list(name.replaceAll('~', ':'))));
    return listed.flat().sort((a, b) => b.card.time.localeCompare(a.card.time));
  }

  async files(place: CheckpointPlace): Promise<readonly string[]> {
    return (await readdir(this.folder(place))).filter((name) => name !== cardFile).sort();
  }

  async #size(place: CheckpointPlace): Promise<number> {
    const folder = this.folder(place);
    const sizes = await Promise.all(
      (await this.files(place)).map(async (name) => (await stat(join(folder, name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }
}

/**
 * `tinker://<model>/weights/<name>`, and for samplers `tinker://<model>/sampler_weights/<name>` or the older form without kind.
 *
 * @throws TurnwiseError `request-invalid`
 */
export function parsePath(path: string, kind: 'weights' | 'sampler_weights'): CheckpointPlace {
  const parts = path.startsWith('tinker://') ? path.slice('tinker://'.length).split('/') : [];
  const [modelId, middle, last] = parts;
  const name = last ?? middle;
  const isKind = parts.length === 3 ? middle === kind : parts.length === 2 && kind === 'sampler_weights';
  if (!isKind || !idPattern.test(modelId ?? '') || !namePattern.test(name ?? ''))
    throw invalid('The path is not one of saved weights', path, `tinker://<model>/${kind}/<name>`);
  return { modelId: modelId!, kind, name: name! };
}

/** A time from now, as cards have it; undefined for ever. */
export function expiry(ttlSeconds: number | null | undefined): string | undefined {
  return ttlSeconds ? new Date(Date.now() + 1000 * ttlSeconds).toISOString() : undefined;
}

export function pathOf({ modelId, kind, name }: CheckpointPlace): string {
  return `tinker://${modelId}/${kind}/${name}`;
}
