/** Checkpoints of a run: folders that are complete or absent, with a manifest that says what is in them. */

import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json/json.ts';
import { writeError } from '../core/write-error.ts';
import type { Disk } from './disk.ts';

const formatVersion = 2;
const manifestName = 'manifest.json';
const stateName = 'state.json';
/** Folders under this prefix are unfinished or on their way out: a killed process may leave them behind. */
const temporaryPrefix = '.unfinished-';

const manifestSchema = z.strictObject({
  format: z.literal('turnwise-checkpoint'),
  formatVersion: z.int(),
  /** Version of Turnwise that wrote it. */
  turnwise: z.string(),
  run: z.string(),
  step: z.int().min(0),
  /** What the weights belong to: model shape and vocabulary. Only an equal identity can load them. */
  identity: z.string(),
  /** Generation of the run that wrote it. */
  generation: z.int().min(1),
  /** Length of the event log, flushed, when it was written. */
  eventBytes: z.int().min(0),
  files: z.array(z.strictObject({ name: z.string(), bytes: z.int(), sha256: z.string() })),
});

export type CheckpointManifest = z.output<typeof manifestSchema>;

export interface Checkpoint {
  readonly step: number;
  /** Where the engine finds its files. */
  readonly folder: string;
  readonly manifest: CheckpointManifest;
  /** What the training loop stored beside the weights. */
  readonly state: Json;
}

export interface SaveRequest {
  readonly step: number;
  readonly identity: string;
  readonly generation: number;
  readonly eventBytes: number;
  /** How many of the newest checkpoints stay. */
  readonly keep: number;
  readonly state: Json;
  /** Writes the weights and optimizer state into a folder. */
  write(folder: string): Promise<void>;
}

export interface CheckpointsOptions {
  readonly folder: string;
  readonly run: string;
  /** The command that continues the run, for error messages. */
  readonly continueWith: string;
  readonly version: string;
  readonly disk: Disk;
}

export class Checkpoints {
  readonly folder: string;
  readonly #run: string;
  readonly #continueWith: string;
  readonly #version: string;
  readonly #disk: Disk;

  constructor({ folder, run, continueWith, version, disk }: CheckpointsOptions) {
    this.folder = folder;
    this.#run = run;
    this.#continueWith = continueWith;
    this.#version = version;
    this.#disk = disk;
  }

  /** Steps that have a finished checkpoint, oldest first. */
  steps(): number[] {
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder)
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .sort((a, b) => a - b);
  }

  /**
   * Write a checkpoint under a temporary name, flush it, rename it, then remove those that are too old. A process killed
   * at any instant leaves the earlier checkpoints whole.
   *
   * @throws TurnwiseError `disk-full`, `disk-failed`
   */
  async save(request: SaveRequest): Promise<CheckpointManifest> {
    const { step, identity, generation, eventBytes, keep, state, write } = request;
    const temporary = join(this.folder, `${temporaryPrefix}${step}`);
    const target = join(this.folder, String(step));
    try {
      this.#disk.remove(temporary);
      this.#disk.makeFolder(temporary);
      await write(temporary);
      this.#disk.replaceFile(join(temporary, stateName), JSON.stringify(state));
      const files = await describeFiles(temporary);
      for (const { name } of files) await this.#disk.flush(join(temporary, name));
      const manifest: CheckpointManifest = {
        format: 'turnwise-checkpoint',
        formatVersion,
        turnwise: this.#version,
        run: this.#run,
        step,
        identity,
        generation,
        eventBytes,
        files,
      };
      this.#disk.replaceFile(join(temporary, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
      await this.#disk.flush(temporary);
      this.#disk.remove(target);
      this.#disk.rename(temporary, target);
      await this.#disk.flush(this.folder);
      for (const old of this.steps().slice(0, -Math.max(1, keep))) this.remove(old);
      return manifest;
    } catch (error) {
      const last = this.steps().at(-1);
      const kept = last === undefined ? 'No checkpoint exists yet' : `The checkpoint of step ${last} is kept`;
      const next = last === undefined ? 'start the run again' : `continue with: ${this.#continueWith}`;
      throw writeError(error, target, kept, next);
    }
  }

  /**
   * Read a checkpoint and check every file against its manifest. Without `step`: the newest.
   *
   * @param identity what the caller is able to load; left out, anything goes
   * @throws TurnwiseError `checkpoint-missing`, `checkpoint-corrupt`, `checkpoint-foreign`
   */
  async open(options: { readonly step?: number; readonly identity?: string } = {}): Promise<Checkpoint> {
    const steps = this.steps();
    const step = options.step ?? steps.at(-1);
    if (step === undefined || !steps.includes(step)) throw this.#missing(step, steps);
    const folder = join(this.folder, String(step));
    const manifest = this.#readManifest(step, folder);
    if (options.identity !== undefined && options.identity !== manifest.identity) {
      throw this.#foreign(folder, `weights of ${manifest.identity}`, `weights of ${options.identity}`);
    }
    for (const file of manifest.files) await this.#verify(step, folder, file);
    const state = JSON.parse(readFileSync(join(folder, stateName), 'utf8')) as Json;
    return { step, folder, manifest, state };
  }

  /** Remove what a killed process left unfinished. */
  clean(): void {
    if (!existsSync(this.folder)) return;
    for (const name of readdirSync(this.folder)) {
      if (name.startsWith(temporaryPrefix)) this.#disk.remove(join(this.folder, name));
    }
  }

  /** Renamed before it is deleted, so that a half-deleted folder never looks like a checkpoint. */
  remove(step: number): void {
    const leaving = join(this.folder, `${temporaryPrefix}removed-${step}`);
    this.#disk.remove(leaving);
    this.#disk.rename(join(this.folder, String(step)), leaving);
    this.#disk.remove(leaving);
  }

  #readManifest(step: number, folder: string): CheckpointManifest {
    const path = join(folder, manifestName);
    if (!existsSync(path))
      throw this.#foreign(folder, `no ${manifestName}`, 'a checkpoint that Turnwise wrote');
    let content: unknown;
    try {
      content = JSON.parse(readFileSync(path, 'utf8'));
    } catch (cause) {
      throw this.#corrupt(step, folder, `${manifestName} is not JSON`, cause);
    }
    if (typeof content !== 'object' || content === null)
      throw this.#corrupt(step, folder, `${manifestName} is ${JSON.stringify(content)}, not an object`);
    const { format, formatVersion: version } = content as Partial<CheckpointManifest>;
    if (format !== 'turnwise-checkpoint' || version !== formatVersion) {
      const seen = `format ${String(format)}, version ${String(version)}`;
      throw this.#foreign(folder, seen, `format turnwise-checkpoint, version ${formatVersion}`);
    }
    const parsed = manifestSchema.safeParse(content);
    if (!parsed.success) throw this.#corrupt(step, folder, z.prettifyError(parsed.error), parsed.error);
    return parsed.data;
  }

  async #verify(step: number, folder: string, file: CheckpointManifest['files'][number]): Promise<void> {
    const path = join(folder, file.name);
    if (!existsSync(path)) throw this.#corrupt(step, folder, `${file.name} is missing`);
    const { size } = statSync(path);
    if (size !== file.bytes) {
      throw this.#corrupt(step, folder, `${file.name} has ${size} bytes instead of ${file.bytes}`);
    }
    if ((await sha256(path)) !== file.sha256) {
      throw this.#corrupt(step, folder, `the contents of ${file.name} do not match their checksum`);
    }
  }

  #missing(step: number | undefined, steps: readonly number[]): TurnwiseError {
    return new TurnwiseError('checkpoint-missing', {
      what:
        step === undefined
          ? `Run "${this.#run}" has no checkpoint`
          : `There is no checkpoint of step ${step}`,
      ...(steps.length > 0 && { allowed: `steps ${steps.join(', ')}` }),
      next: steps.length > 0 ? 'Name one of these steps' : 'Start the run again with: turnwise train',
      fields: { run: this.#run },
    });
  }

  #corrupt(step: number, folder: string, seen: string, cause?: unknown): TurnwiseError {
    const earlier = this.steps()
      .filter((other) => other < step)
      .at(-1);
    return new TurnwiseError('checkpoint-corrupt', {
      what: `The checkpoint of step ${step} of run "${this.#run}" is damaged`,
      seen,
      next:
        earlier === undefined
          ? 'There is no earlier checkpoint: start the run again with turnwise train'
          : `Delete ${folder} to continue from step ${earlier}`,
      fields: { run: this.#run, step, path: folder },
      cause,
    });
  }

  #foreign(folder: string, seen: string, allowed: string): TurnwiseError {
    return new TurnwiseError('checkpoint-foreign', {
      what: 'This checkpoint does not belong here',
      seen: `${seen} in ${folder}`,
      allowed,
      next: 'Use the version and settings that wrote it, or start a new run',
      fields: { run: this.#run, path: folder },
    });
  }
}

async function describeFiles(folder: string): Promise<CheckpointManifest['files']> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const files: CheckpointManifest['files'] = [];
  for (const name of names) {
    const path = join(folder, name);
    files.push({ name, bytes: statSync(path).size, sha256: await sha256(path) });
  }
  return files;
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
