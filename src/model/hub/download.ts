/** One file from the hub: resumed where it was cut, checked against its checksum, and renamed into place when it is whole. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { TurnwiseError } from '../../core/errors.ts';
import { ask, type HttpAnswer, reasonOf } from '../../core/node/http.ts';
import { writeError } from '../../core/write-error.ts';

export interface Download {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For the hub alone: large files are elsewhere. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Where the whole file goes; the part that is there so far is beside it, named `.incomplete`. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 in hex of large files, the SHA-1 of a git blob for small ones; anything else is not checked. */
  readonly checksum: string;
  /** For messages: `config.json of owner/name`. */
  readonly subject: string;
  readonly signal: AbortSignal;
  /** Bytes of the file that are on the disk. */
  readonly onBytes: (done: number) => void;
  /** The error for an answer that is not a success. */
  readonly refused: (response: HttpAnswer) => TurnwiseError;
  readonly patience: Patience;
}

export interface Patience {
  /** Attempts in a row that bring no new byte. */
  readonly attempts: number;
  /** Wait before the second attempt; doubled for each further one. */
  readonly waitMs: number;
  /** A connection that is silent for longer is given up. */
  readonly silenceMs: number;
}

export const usualPatience: Patience = { attempts: 5, waitMs: 500, silenceMs: 30_000 };

/** As many as browsers follow. */
export const MOST_REDIRECTS = 20;

/** @throws TurnwiseError `hub-interrupted`, `hub-checksum`, `disk-full`, `disk-failed`, and what `refused` gives */
export async function download(file: Download): Promise<void> {
  const incomplete = `${file.path}.incomplete`;
  // Bytes that were damaged on the way are fetched once more, in case it was the way.
  for (const last of [false, true]) {
    await fetchAll(file, incomplete);
    const seen = await checksumOf(incomplete, file);
    if (seen === file.checksum || seen === undefined) {
      await rename(incomplete, file.path);
      return;
    }
    await rm(incomplete, { force: true });
    if (last) {
      throw new TurnwiseError('hub-checksum', {
        what: `${file.subject} arrived damaged, twice`,
        seen: `checksum ${seen}`,
        allowed: file.checksum,
        next: 'Try again, or from another network; the damaged file has been deleted',
        fields: { file: file.path },
      });
    }
  }
}

/** Ask for what is missing until nothing is. */
async function fetchAll(file: Download, incomplete: string): Promise<void> {
  const { attempts, waitMs } = file.patience;
  let failures = 0;
  if (file.bytes === 0) await writeFile(incomplete, '');
  for (let have = await sizeOf(incomplete); have !== file.bytes; ) {
    if (have > file.bytes) {
      await rm(incomplete);
      have = 0;
    }
    let cause: unknown;
    try {
      await fetchRest(file, incomplete, have);
    } catch (error) {
      file.signal.throwIfAborted();
      if (TurnwiseError.isInstance(error)) throw error;
      cause = error;
    }
    const now = await sizeOf(incomplete);
    failures = now > have ? 0 : failures + 1;
    have = now;
    if (have === file.bytes) return;
    if (failures >= attempts) throw interrupted(file, have, cause);
    if (failures > 0) await wait(waitMs * 2 ** (failures - 1), file.signal);
  }
}

async function fetchRest(file: Download, incomplete: string, have: number): Promise<void> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error('no byte arrived')), file.patience.silenceMs);
  try {
    const response = await ask(file.url, {
      headers: { ...file.headers, ...(have > 0 ? { range: `bytes=${have}-` } : {}) },
      secrets: file.secrets,
      redirects: MOST_REDIRECTS,
      signal: AbortSignal.any([file.signal, silence.signal]),
    });
    if (response.status === 416) {
      // The part here is not a part of what is there.
      response.discard();
      await rm(incomplete, { force: true });
      return;
    }
    if (response.status >= 500 || response.status === 429) {
      response.discard();
      throw new Error(`${response.status} ${response.statusText}`.trim());
    }
    if (!response.ok) {
      response.discard();
      throw file.refused(response);
    }
    // Where the server starts from the beginning, so does the file.
    const from = response.status === 206 ? have : 0;
    const opening = open(incomplete, from === 0 ? 'w' : 'a');
    await writeBody(file, response.body, opening, from, () => timer.refresh());
  } finally {
    clearTimeout(timer);
  }
}

/** Bytes that may have arrived and not be written. */
const mostUnwritten = 2 ** 24;

/** Chunks are taken as they come and written in order: those that a stream still holds when its connection breaks are lost. */
async function writeBody(
  file: Download,
  body: AsyncIterable<Uint8Array>,
  opening: Promise<FileHandle>,
  from: number,
  onChunk: () => void,
): Promise<void> {
  let arrived = from;
  let done = from;
  const write = async (chunk: Uint8Array): Promise<void> => {
    await (await opening).writeFile(chunk);
    done += chunk.byteLength;
    file.onBytes(done);
  };
  let written: Promise<unknown> = opening;
  written.catch(() => {}); // A failure is thrown where it is awaited.
  try {
    for await (const chunk of body) {
      onChunk();
      arrived += chunk.byteLength;
      if (arrived > file.bytes) throw new Error('more bytes arrived than the file has');
      written = written.then(() => write(chunk));
      written.catch(() => {});
      if (arrived - done > mostUnwritten) await written;
    }
  } finally {
    await written
      .catch((error: unknown) => {
        throw refusedWrite(error, file);
      })
      .finally(() =>
        opening.then(
          async (output) => {
            await output.sync().catch(() => {});
            await output.close();
          },
          () => {},
        ),
      );
  }
}

function refusedWrite(error: unknown, { path }: Download): unknown {
  return writeError(error, path, 'The downloaded part is kept', 'run the command again');
}

function interrupted({ subject, bytes, path }: Download, have: number, cause: unknown): TurnwiseError {
  return new TurnwiseError('hub-interrupted', {
    what: `The download of ${subject} was interrupted again and again`,
    seen: `${have} of ${bytes} bytes${cause === undefined ? '' : `, then: ${reasonOf(cause)}`}`,
    next: 'Run the command again: it continues where it stopped',
    fields: { file: path, bytes: have },
    cause,
  });
}

/** The checksum of the kind that is expected; undefined where the kind is not known. */
async function checksumOf(path: string, { checksum, bytes }: Download): Promise<string | undefined> {
  const hash = /^[0-9a-f]{64}$/.test(checksum)
    ? createHash('sha256')
    : /^[0-9a-f]{40}$/.test(checksum)
      ? createHash('sha1').update(`blob ${bytes}\0`)
      : undefined;
  if (hash === undefined) return undefined;
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}
