/** The folder of a runtime that is a process: `work`, which the code sees, and beside it what drives it. */

import { constants } from 'node:fs';
import { cp, lstat, mkdir, open, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { badFile } from '../faults.ts';
import { cutOutput, type RuntimeFiles } from '../runtime.ts';
import { keptFolder, OWNER_MARK } from './keeper.ts';
import { MARK } from './processes.ts';

/** Largest file that is read, in bytes. */
const LARGEST_READ = 16 * 2 ** 20;
const MOST_LISTED = 10_000;

export class Workplace {
  readonly folder: string;
  readonly work: string;
  /** Of all runtimes of this process. */
  readonly owner: string;

  private constructor(folder: string, owner: string) {
    this.folder = folder;
    this.work = join(folder, 'work');
    this.owner = owner;
  }

  static async create(): Promise<Workplace> {
    const { folder, owner } = await keptFolder();
    const place = new Workplace(folder, owner);
    await mkdir(place.work);
    return place;
  }

  /** What the processes of a runtime find in their environment: none of the secrets of this one. */
  environment(mark: string): NodeJS.ProcessEnv {
    const { PATH = '/usr/local/bin:/usr/bin:/bin' } = process.env;
    const own = { HOME: this.work, TMPDIR: this.work, LANG: 'C.UTF-8' };
    return { PATH, ...own, [MARK]: mark, [OWNER_MARK]: this.owner };
  }

  /** A file beside the work. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** A new workplace with the same files. */
  async copy(): Promise<Workplace> {
    const other = await Workplace.create();
    await cp(this.work, other.work, {
      recursive: true,
      verbatimSymlinks: true,
      // Pipes and sockets belong to processes.
      filter: async (path) => {
        const info = await lstat(path);
        return info.isFile() || info.isDirectory() || info.isSymbolicLink();
      },
    });
    return other;
  }

  /** What a call printed, cut. */
  async output(name: string, limit: number): Promise<string> {
    const file = await open(this.path(name), constants.O_RDONLY);
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, 4 * limit + 4)), 0);
      const text = buffer.subarray(0, bytesRead).toString('utf8').replace(/\n$/, '');
      return cutOutput(text, limit, text.length + size - bytesRead);
    } finally {
      await file.close();
    }
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  get files(): RuntimeFiles {
    return {
      read: async (path) => {
        const place = await this.#inside(path);
        const info = await lstat(place).catch(() => undefined);
        if (info === undefined) throw badFile(path, 'is not there');
        if (!info.isFile()) throw badFile(path, 'is no plain file');
        if (info.size > LARGEST_READ) throw badFile(path, `has ${info.size} bytes`);
        return readFile(place, 'utf8');
      },
      write: async (path, text) => {
        const place = await this.#inside(path, { create: true });
        const info = await lstat(place).catch(() => undefined);
        if (info !== undefined && !info.isFile()) throw badFile(path, 'is no plain file');
        await writeFile(place, text);
      },
      list: async () => {
        const entries = await readdir(this.work, { recursive: true, withFileTypes: true });
        const files = entries.filter((entry) => entry.isFile()).slice(0, MOST_LISTED);
        return files.map((entry) => relative(this.work, join(entry.parentPath, entry.name))).sort();
      },
    };
  }

  /** Links of the code may lead anywhere, so the real folder counts. */
  async #inside(path: string, { create = false } = {}): Promise<string> {
    const place = normalize(join(this.work, path));
    const isBelow = (whole: string, folder: string): boolean =>
      whole === folder || whole.startsWith(folder + sep);
    if (path.startsWith('/') || !isBelow(place, this.work) || place === this.work)
      throw badFile(path, 'lies outside');
    if (create) await mkdir(dirname(place), { recursive: true }).catch(() => {});
    const parent = await realpath(dirname(place)).catch(() => undefined);
    if (parent === undefined) throw badFile(path, 'is not there');
    if (!isBelow(parent, await realpath(this.work))) throw badFile(path, 'lies outside');
    return place;
  }
}
