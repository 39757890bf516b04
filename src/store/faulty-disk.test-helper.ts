/** A disk whose writes fail on demand, for tests. */

import { type Disk, realDisk } from './disk.ts';

/** `realDisk`, where the operation named `fault()` fails like the operating system fails it. */
export function faultyDisk(fault: () => keyof Disk | undefined, errno = 'ENOSPC'): Disk {
  const wrap = (name: keyof Disk): unknown => {
    return (...parameters: unknown[]): unknown => {
      if (fault() === name) throw Object.assign(new Error(`${errno}: injected`), { code: errno });
      return (realDisk[name] as (...values: unknown[]) => unknown)(...parameters);
    };
  };
  return Object.fromEntries(
    (Object.keys(realDisk) as (keyof Disk)[]).map((name) => [name, wrap(name)]),
  ) as unknown as Disk;
}
