/** Every write of a run goes through here, so that a full disk is one error and a test can make any write fail. */

import {
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../core/write-error.ts';

export interface Disk {
  makeFolder(path: string): void;
  /** Append whole lines or records; returns when the operating system has them (they survive a killed process). */
  append(path: string, content: string | Uint8Array): void;
  /** Create a file that must not exist yet (EEXIST otherwise). */
  createFile(path: string, text: string): void;
  /** Replace a file as a whole: after a crash there is the old one or the new one, never a part. */
  replaceFile(path: string, content: string | Uint8Array): void;
  /** Give a file a second name that must not exist yet (EEXIST otherwise): the name appears with all its content. */
  link(from: string, to: string): void;
  /** Write a file chunk by chunk and flush it, without holding up the event loop. */
  writeChunks(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Change bytes of a file in place. */
  patch(path: string, changes: readonly Change[]): void;
  truncate(path: string, bytes: number): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Flush a file or a folder to the device. */
  flush(path: string): Promise<void>;
}

/** Bytes to be written over others, from the byte `at` on. */
export interface Change {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export const realDisk: Disk = {
  makeFolder: (path) => void mkdirSync(path, { recursive: true }),
  append: (path, content) => appendFileSync(path, content),
  createFile(path, text) {
    const file = openSync(path, 'wx');
    try {
      writeSync(file, text);
    } finally {
      closeSync(file);
    }
  },
  replaceFile(path, content) {
    const temporary = `${path}.tmp`;
    const file = openSync(temporary, 'w');
    try {
      let rest = typeof content === 'string' ? Buffer.from(content) : content;
      while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    flushFolder(dirname(path));
  },
  link(from, to) {
    try {
      linkSync(from, to);
    } catch (error) {
      // Some file systems have no links.
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errnoOf(error) ?? '')) throw error;
      copyFileSync(from, to, constants.COPYFILE_EXCL);
    }
  },
  async writeChunks(path, chunks) {
    const file = await open(path, 'w');
    try {
      for await (const block of inBlocks(chunks)) await file.appendFile(block);
      await file.sync();
    } finally {
      await file.close();
    }
  },
  patch(path, changes) {
    const file = openSync(path, 'r+');
    try {
      for (const { at, bytes } of changes) writeSync(file, bytes, 0, bytes.length, at);
    } finally {
      closeSync(file);
    }
  },
  truncate: (path, bytes) => truncateSync(path, bytes),
  rename: (from, to) => renameSync(from, to),
  remove: (path) => rmSync(path, { recursive: true, force: true }),
  async flush(path) {
    const file = await open(path, 'r');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  },
};

const blockBytes = 2 ** 18;

/** The same bytes in fewer pieces: every write goes to another thread and back. */
async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < blockBytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

function flushFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
