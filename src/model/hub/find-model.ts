/**
 * A model by reference: a folder or a GGUF file; a name of Ollama or LM Studio; or `owner/name` (or `owner/name@revision`)
 * from the hub's cache or from the hub.
 */

import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, statfs, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { ask, type HttpAnswer, type HttpRequest } from '../../core/node/http.ts';
import { writeError } from '../../core/write-error.ts';
import { findLocal } from '../local/find-local.ts';
import { modelAt } from '../local/gguf-in-folder.ts';
import { download, MOST_REDIRECTS, type Patience, usualPatience } from './download.ts';
import {
  cachedSnapshot,
  type HubEnvironment,
  type HubReference,
  INDEX_FILE,
  repositoryFolder,
  shardsOf,
} from './hub-cache.ts';
import { noNetwork, refusedByHub } from './hub-errors.ts';

/** How far a download is, over all files of the model. */
export interface DownloadProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
  readonly bytesPerSecond: number;
  /** Infinity until something has arrived. */
  readonly secondsLeft: number;
}

export interface FindOptions {
  readonly environment: HubEnvironment;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: DownloadProgress) => void;
  readonly patience?: Patience;
  /** False: only what says how the model reads, for a model whose weights are elsewhere. */
  readonly weights?: boolean;
}

/** Longest list of the files of a model. */
const LISTING_BYTES = 64 * 2 ** 20;

/** Files that are fetched where the model has them, beside its weights. */
const SMALL_FILES = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
];

/**
 * The folder or GGUF file of the model. What the cache has whole is used without asking the hub, so that a run does not change
 * when a branch moves; name a commit to be sure of it on another machine.
 *
 * @throws TurnwiseError `model-unknown`, `model-ambiguous`, `hub-unreachable`, `hub-denied`, `hub-unknown`, `hub-unavailable`,
 * `hub-interrupted`, `hub-checksum`, `hub-no-weights`, `disk-full`, `disk-failed`
 */
export async function findModel(reference: string, options: FindOptions): Promise<string> {
  if (existsSync(reference)) return modelAt(reference);
  const { environment } = options;
  const hub = hubReference(reference);
  const here = (hub && cachedSnapshot(environment, hub, options)) ?? findLocal(environment, reference);
  return here ?? (await fetchSnapshot(hub ?? parseReference(reference), options));
}

function hubReference(reference: string): HubReference | undefined {
  const [, repository, revision] = /^([\w-][\w.-]*\/[\w.-]+)(?:@([\w./-]+))?$/.exec(reference) ?? [];
  if (repository === undefined || revision?.split('/').includes('..')) return undefined;
  return { repository, revision: revision ?? 'main' };
}

/** @throws TurnwiseError `model-unknown` for what is neither a path nor a name on the hub */
export function parseReference(reference: string): HubReference {
  const hub = hubReference(reference);
  if (hub !== undefined) return hub;
  throw new TurnwiseError('model-unknown', {
    what: `There is no model "${reference}"`,
    seen: `${resolve(reference)} does not exist`,
    allowed:
      'a checkpoint folder; a GGUF file; owner/name of a model on the hub, with @revision if need be; ollama:NAME or lmstudio:PUBLISHER/REPOSITORY',
    fields: { model: reference },
  });
}

interface RemoteFile {
  readonly name: string;
  readonly url: string;
  readonly bytes: number;
  /** Its name among the blobs: a checksum. */
  readonly etag: string;
}

/** Downloads what is missing of a snapshot, and names it only when it is whole. */
async function fetchSnapshot(reference: HubReference, options: FindOptions): Promise<string> {
  const { environment } = options;
  const endpoint = (environment.HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, '');
  const { repository, revision } = reference;
  const subject = revision === 'main' ? repository : `${repository}@${revision}`;
  if (/^(1|on|yes|true)$/i.test(environment.HF_HUB_OFFLINE ?? '')) {
    throw noNetwork(new Error('HF_HUB_OFFLINE is set'), endpoint, subject);
  }
  const token = environment.HF_TOKEN || undefined;
  // Lengths and parts are those of the file, not of something compressed.
  const headers = { 'accept-encoding': 'identity' };
  const secrets: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const askHub = async (url: string, request: HttpRequest): Promise<HttpAnswer> => {
    const deadline = AbortSignal.timeout((options.patience ?? usualPatience).silenceMs);
    try {
      const signal = AbortSignal.any([options.signal, deadline]);
      return await ask(url, { ...request, headers, secrets, signal });
    } catch (cause) {
      options.signal.throwIfAborted();
      throw noNetwork(cause, endpoint, subject);
    }
  };
  const refused = (response: HttpAnswer, what: string): TurnwiseError =>
    refusedByHub(response, reference, what, token);

  const listing = await askHub(
    `${endpoint}/api/models/${repository}/revision/${encodeURIComponent(revision)}`,
    { redirects: MOST_REDIRECTS },
  );
  if (!listing.ok) {
    listing.discard();
    throw refused(listing, `model ${subject}`);
  }
  const listed = await listing.bytes(LISTING_BYTES);
  if (listed === undefined) throw strange(subject, `a list of more than ${LISTING_BYTES} bytes`);
  const { sha, siblings } = JSON.parse(new TextDecoder().decode(listed)) as {
    readonly sha: string;
    readonly siblings: readonly { readonly rfilename: string }[];
  };
  // Names from the network become names of files here.
  if (!/^[0-9a-f]{6,64}$/.test(sha)) throw strange(subject, `commit ${JSON.stringify(sha)}`);
  const names = new Set(siblings.map(({ rfilename }) => rfilename));

  const describe = async (name: string): Promise<RemoteFile> => {
    let url = `${endpoint}/${repository}/resolve/${sha}/${name}`;
    // The hub says what a large file is before it sends one elsewhere for it; a renamed model is on the hub itself.
    let response = await askHub(url, { method: 'HEAD' });
    for (let moves = 0; moves < 3 && response.header('location')?.startsWith('/'); moves++) {
      if (response.header('x-linked-etag') !== undefined) break;
      url = endpoint + response.header('location');
      response = await askHub(url, { method: 'HEAD' });
    }
    if (response.status >= 400) throw refused(response, `file ${name} of ${subject}`);
    const etag = (response.header('x-linked-etag') ?? response.header('etag') ?? '').replace(/^W\/|"/g, '');
    const bytes = Number(response.header('x-linked-size') ?? response.header('content-length') ?? Number.NaN);
    if (!/^[\w-]+$/.test(etag) || !Number.isSafeInteger(bytes)) {
      throw strange(subject, `no usable etag and length of ${name}`);
    }
    return { name, url, bytes, etag };
  };

  const folder = repositoryFolder(environment, reference);
  const snapshot = join(folder, 'snapshots', sha);
  const progress = progressMeter(options);
  const fetchFiles = async (files: readonly RemoteFile[]): Promise<void> => {
    progress.expect(files);
    await requireSpace(folder, files);
    for (const file of files) {
      const blob = join(folder, 'blobs', file.etag);
      if (!existsSync(blob)) {
        await download({
          url: file.url,
          headers,
          secrets,
          path: blob,
          bytes: file.bytes,
          checksum: file.etag,
          subject: `${file.name} of ${subject}`,
          signal: options.signal,
          onBytes: (done) => progress.at(file, done),
          refused: (response) => refused(response, `file ${file.name} of ${subject}`),
          patience: options.patience ?? usualPatience,
        });
      }
      progress.at(file, file.bytes);
      await link(blob, join(snapshot, file.name));
    }
  };

  try {
    await mkdir(join(folder, 'blobs'), { recursive: true });
    await mkdir(snapshot, { recursive: true });
    const small = [...SMALL_FILES, INDEX_FILE].filter((name) => names.has(name));
    await fetchFiles(await Promise.all(small.map(describe)));
    if (options.weights !== false) {
      const weights = names.has(INDEX_FILE)
        ? shardsOf(await readFile(join(snapshot, INDEX_FILE), 'utf8'))
        : names.has('model.safetensors')
          ? ['model.safetensors']
          : [];
      if (weights.length === 0) throw noWeights(subject, [...names]);
      const outside = weights.find((name) => !/^[\w.-]+\.safetensors$/.test(name));
      if (outside !== undefined) throw strange(subject, `weight file ${JSON.stringify(outside)}`);
      await fetchFiles(await Promise.all(weights.map(describe)));
    }
    // Last, so that the name never leads to half a snapshot.
    const pointer = join(folder, 'refs', revision);
    if (revision !== sha) {
      await mkdir(dirname(pointer), { recursive: true });
      await writeFile(pointer, sha);
    }
  } catch (error) {
    throw writeError(error, folder, 'The downloaded part is kept', 'run the command again');
  }
  return snapshot;
}

interface ProgressMeter {
  expect(files: readonly RemoteFile[]): void;
  at(file: RemoteFile, done: number): void;
}

function progressMeter({ onProgress }: FindOptions): ProgressMeter {
  const done = new Map<RemoteFile, number>();
  let began: { readonly bytes: number; readonly at: number } | undefined;
  return {
    expect: (files) => {
      for (const file of files) done.set(file, 0);
    },
    at: (file, bytes) => {
      done.set(file, bytes);
      const doneBytes = [...done.values()].reduce((sum, part) => sum + part, 0);
      const totalBytes = [...done.keys()].reduce((sum, part) => sum + part.bytes, 0);
      // What was there before says nothing of the rate.
      began ??= { bytes: doneBytes, at: performance.now() };
      const seconds = Math.max(1e-3, (performance.now() - began.at) / 1000);
      const bytesPerSecond = (doneBytes - began.bytes) / seconds;
      const left = totalBytes - doneBytes;
      onProgress?.({
        doneBytes,
        totalBytes,
        bytesPerSecond,
        secondsLeft: left === 0 ? 0 : left / bytesPerSecond,
      });
    },
  };
}

/** Better to say so now than after an hour. */
async function requireSpace(folder: string, files: readonly RemoteFile[]): Promise<void> {
  const missing = files.filter(({ etag }) => !existsSync(join(folder, 'blobs', etag)));
  const bytes = missing.reduce((sum, file) => sum + file.bytes, 0);
  const { bavail, bsize } = await statfs(folder);
  if (bytes <= bavail * bsize) return;
  throw new TurnwiseError('disk-full', {
    what: 'The disk has no room for the model',
    seen: `${Math.ceil(bytes / 1e6)} MB to download, ${Math.floor((bavail * bsize) / 1e6)} MB free at ${folder}`,
    next: 'Free some space, or set HF_HOME to a folder on another disk',
    fields: { path: folder },
  });
}

/** A link, as all Hugging Face libraries make it; a copy where the system has no links. */
async function link(blob: string, path: string): Promise<void> {
  await rm(path, { force: true });
  await symlink(relative(dirname(path), blob), path).catch(() => copyFile(blob, path));
}

function strange(subject: string, seen: string): TurnwiseError {
  return new TurnwiseError('hub-unavailable', {
    what: `The hub's answer about ${subject} cannot be used`,
    seen,
    next: 'Check HF_ENDPOINT, or give a checkpoint folder as ./path',
    fields: { model: subject },
  });
}

function noWeights(subject: string, names: readonly string[]): TurnwiseError {
  return new TurnwiseError('hub-no-weights', {
    what: `${subject} has no weights in the safetensors format`,
    seen: names.filter((name) => /\.(bin|pt|gguf|h5|onnx)$/.test(name)).join(', ') || 'none at all',
    allowed: 'model.safetensors, or model.safetensors.index.json and its files',
    next: names.some((name) => name.endsWith('.gguf'))
      ? 'Download one of its GGUF files and name that, or choose a repository with safetensors'
      : 'Choose a repository with safetensors',
    fields: { model: subject },
  });
}
