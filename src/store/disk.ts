/** Every write of a run goes through here, so that a full disk is one error and a test can make any write fail. */

import {
  appendFileSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Disk {
  makeFolder(path: string): void;
  /** Append whole lines; returns when the operating system has them (they survive a killed process). */
  append(path: string, text: string): void;
  /** Create a file that must not exist yet (EEXIST otherwise). */
  createFile(path: string, text: string): void;
  /** Replace a file as a whole: after a crash there is the old one or the new one, never a part. */
  replaceFile(path: string, text: string): void;
  /** Like `replaceFile`, without holding up the event loop. */
  replaceLines(path: string, lines: Iterable<string>): Promise<void>;
  truncate(path: string, bytes: number): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Flush a file or a folder to the device. */
  flush(path: string): Promise<void>;
}

const chunkCharacters = 64 * 1024;

export const realDisk: Disk = {
  makeFolder: (path) => void mkdirSync(path, { recursive: true }),
  append: (path, text) => appendFileSync(path, text),
  createFile(path, text) {
    const file = openSync(path, 'wx');
    try {
      writeSync(file, text);
    } finally {
      closeSync(file);
    }
  },
  replaceFile(path, text) {
    const temporary = `${path}.tmp`;
    const file = openSync(temporary, 'w');
    try {
      for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(file, rest));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    flushFolder(dirname(path));
  },
  async replaceLines(path, lines) {
    const temporary = `${path}.tmp`;
    const file = await open(temporary, 'w');
    try {
      let chunk = '';
      for (const line of lines) {
        chunk += `${line}\n`;
        if (chunk.length < chunkCharacters) continue;
        await file.appendFile(chunk);
        chunk = '';
      }
      await file.appendFile(chunk);
    } finally {
      await file.close();
    }
    renameSync(temporary, path);
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

function flushFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
