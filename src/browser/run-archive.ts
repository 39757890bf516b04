/** A run as files that the command line reads: what the store of a run would have written, made in memory. */

import { exactJson } from '../core/json/exact-json.ts';
import { modelFiles } from '../engine/embedded/weights/checkpoint-parts.ts';
import { safetensorsHeader } from '../model/checkpoint/safetensors-header.ts';
import { serializeRunFile } from '../store/run-file.ts';
import { ownConfig } from '../train/config/run-schema.ts';
import type { Learner } from '../train/kit/learner.ts';
import type { StoredEvent } from '../train/loop/events.ts';
import type { TrainState } from '../train/loop/state.ts';
import type { ModelCard, SmallModelCard } from '../train/model-card.ts';
import { type ArchivedFile, tarOf } from './tar.ts';

/** What a checkpoint keeps in memory: the weights as they were. */
export interface KeptCheckpoint {
  readonly state: TrainState;
  readonly files: readonly ArchivedFile[];
  /** Events that were told before it. */
  readonly events: number;
}

export interface RunParts extends Pick<Learner, 'config' | 'recipe' | 'catalogue'> {
  /** Name of the run, and of its folder. */
  readonly name: string;
  /** Version of Turnwise. */
  readonly version: string;
  readonly world: { readonly name: string; readonly source: string };
  readonly card: SmallModelCard;
  readonly events: readonly (StoredEvent & { readonly time: string })[];
  readonly checkpoint: KeptCheckpoint;
  /** Files of the user that belong to it, such as her environment. */
  readonly further?: readonly ArchivedFile[];
}

const encoder = new TextEncoder();
const json = (value: unknown): Uint8Array => encoder.encode(`${JSON.stringify(value)}\n`);

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What the weights belong to, as Node says it. */
export async function identityOf(card: ModelCard): Promise<string> {
  return (await sha256(encoder.encode(JSON.stringify(card)))).slice(0, 16);
}

/** The engine's part of a checkpoint as bytes of its own: the next step changes the weights in place. */
export function checkpointFiles(checkpoint: Parameters<typeof modelFiles>[0]): ArchivedFile[] {
  return [...modelFiles(checkpoint)].map(([path, { tensors, metadata }]) => {
    const header = safetensorsHeader(tensors, metadata);
    const length = [...tensors.values()].reduce((sum, { data }) => sum + data.byteLength, header.byteLength);
    const bytes = new Uint8Array(length);
    bytes.set(header);
    let at = header.byteLength;
    for (const { data } of tensors.values()) {
      bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
      at += data.byteLength;
    }
    return { path, bytes };
  });
}

/** The folder of the run as an archive: `tar -xf` in the folder of runs, then `turnwise play ENVIRONMENT --run NAME`. */
export async function runArchive(run: RunParts): Promise<Uint8Array<ArrayBuffer>> {
  const { name, version, card, recipe, config, catalogue, events, checkpoint, further = [] } = run;
  const { step } = checkpoint.state;
  const lines = events.slice(0, checkpoint.events).map((event) => `${exactJson(event)}\n`);
  const log = encoder.encode(lines.join(''));
  const written = [
    ...checkpoint.files,
    { path: 'state.json', bytes: encoder.encode(JSON.stringify({ state: checkpoint.state, card })) },
  ];
  const files = await Promise.all(
    written.map(async ({ path, bytes }) => ({
      name: path,
      bytes: bytes.byteLength,
      sha256: await sha256(bytes),
    })),
  );
  const manifest = {
    format: 'turnwise-checkpoint',
    formatVersion: 2,
    turnwise: version,
    run: name,
    step,
    identity: await identityOf(card),
    generation: 1,
    eventBytes: log.byteLength,
    files,
  };
  const runFile = serializeRunFile({
    turnwise: version,
    world: run.world,
    recipe: recipe.name,
    config: ownConfig(recipe, config, catalogue),
  });
  const inRun = (path: string, bytes: Uint8Array): ArchivedFile => ({ path: `${name}/${path}`, bytes });
  const inCheckpoint = (path: string, bytes: Uint8Array) => inRun(`checkpoints/${step}/${path}`, bytes);
  const archived = [
    inRun('config.json', encoder.encode(runFile)),
    inRun('events.jsonl', log),
    inRun('tokenizer.json', json({ format: 'turnwise-words', formatVersion: 1, words: card.words })),
    ...written.map(({ path, bytes }) => inCheckpoint(path, bytes)),
    inCheckpoint('manifest.json', json(manifest)),
    ...further.map(({ path, bytes }) => inRun(path, bytes)),
  ];
  return tarOf(archived, Date.now() / 1000);
}
