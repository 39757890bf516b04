import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Group } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import { writeError } from '../core/write-error.ts';
import { type Disk, realDisk } from './disk.ts';
import { anyEpisode, anyGroup, plainGroup } from './episodes.test-helper.ts';
import { faultyDisk } from './faulty-disk.test-helper.ts';
import type { Generation } from './generations.ts';
import { groupLines, parseEpisode } from './rollouts/episode-line.ts';
import { IndexFile } from './rollouts/index-file.ts';
import { type IndexFields, IndexRecord, recordBytes, writeRecord } from './rollouts/index-record.ts';
import { rebuildIndex, repairIndex } from './rollouts/reindex.ts';
import { RolloutIndex } from './rollouts/rollout-index.ts';
import { RolloutReader } from './rollouts/rollout-reader.ts';
import { RolloutWriter } from './rollouts/rollout-writer.ts';
import { evaluationShard, recordedShard } from './rollouts/shard-names.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-rollouts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const origin = { world: { source: 'maze', options: { size: 4 }, version: null }, tokenizer: 'abc' };

function writer(generation = 1, disk: Disk = realDisk): RolloutWriter {
  const failed = (error: unknown, path: string): unknown => writeError(error, path, 'Kept', 'go on');
  return new RolloutWriter({ ...origin, folder, generation, disk, failed });
}

const index = (): IndexFile => new IndexFile(join(folder, 'index.bin'), realDisk);

async function write(step: number, groups: readonly Group[], generation = 1): Promise<void> {
  const one = writer(generation);
  await one.write(step, groups);
  await one.settled();
}

async function all(groups: AsyncIterable<Group>): Promise<Group[]> {
  const found: Group[] = [];
  for await (const group of groups) found.push(group);
  return found;
}

/** Values of the records, for comparison. */
function rows(read: RolloutIndex): object[] {
  return read.filter().map((record) => ({
    shard: record.shard,
    key: [record.step, record.group, record.member],
    label: record.label,
    return: record.return,
    newestVersion: record.newestVersion,
  }));
}

describe('a line', () => {
  it('gives back any episode exactly', () => {
    fc.assert(
      fc.property(anyEpisode, (episode) => {
        const [line] = groupLines({ step: 1, group: 2, members: [episode] });
        expect(line).not.toContain('\n');
        expect(parseEpisode(line!, 'here').episode).toStrictEqual(episode);
      }),
    );
  });

  it('is refused by the field that is wrong', () => {
    const [line] = groupLines(plainGroup(1, 0, 1));
    const wrong = line!.replace('[3,4]', '[3,4.5]');
    expect(() => parseEpisode(wrong, '1.jsonl.gz, line 1')).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Stored episodes cannot be read: 1.jsonl.gz, line 1. Seen: calls[0].ids[1]: 4.5. Allowed: a token id. Build the index anew with "turnwise runs reindex NAME", take another run, or record the episodes again.]`,
    );
  });
});

describe('shards', () => {
  it('give back any groups exactly, through the index', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyGroup, { maxLength: 3 }), async (groups) => {
        rmSync(folder, { recursive: true, force: true });
        await write(7, groups);
        expect(await all(RolloutReader.open(folder).groups(7))).toStrictEqual(groups);
        // And without it.
        rmSync(join(folder, 'index.bin'), { force: true });
        expect(await all(RolloutReader.open(folder).groups(7))).toStrictEqual(groups);
      }),
      { numRuns: 30 },
    );
  });

  it('are lines behind a header for zcat', async () => {
    await write(3, [plainGroup(3, 0), plainGroup(3, 1)]);
    const lines = gunzipSync(readFileSync(join(folder, '3.jsonl.gz')))
      .toString()
      .trimEnd()
      .split('\n');
    expect(JSON.parse(lines[0]!)).toEqual({
      format: 'turnwise-rollouts',
      formatVersion: 2,
      generation: 1,
      ...origin,
    });
    expect(lines).toHaveLength(5);
    expect(await RolloutReader.open(folder).header(3)).toMatchObject({ tokenizer: 'abc' });
  });

  it('keep both ways of an evaluation, and recorded episodes', async () => {
    const one = writer();
    await one.writeRecorded([plainGroup(0, 5)]);
    await one.writeEvaluation(4, { sampled: [plainGroup(4, 0, 1)], greedy: [plainGroup(4, 0, 1)] });
    await one.settled();
    const reader = RolloutReader.open(folder);
    expect(reader.index.filter().map(({ label }) => label)).toEqual([
      'recorded',
      'recorded',
      'sampled',
      'greedy',
    ]);
    expect(await all(reader.evaluation(evaluationShard(4), 'greedy'))).toStrictEqual([plainGroup(4, 0, 1)]);
    expect(await all(reader.groups(recordedShard))).toStrictEqual([plainGroup(0, 5)]);
    expect([reader.index.steps(), reader.index.evaluationSteps()]).toEqual([[], [4]]);
  });

  it('find groups by keys; an inserted member counts where it was stored last', async () => {
    await write(1, [plainGroup(1, 0), plainGroup(1, 1)]);
    const inserted = plainGroup(1, 1).members[0]!;
    const joined: Group = { ...plainGroup(2, 0), members: [inserted, ...plainGroup(2, 0).members] };
    await write(2, [joined]);
    const reader = RolloutReader.open(folder);
    expect(await reader.read([inserted.key, plainGroup(1, 0).members[1]!.key])).toStrictEqual([
      joined,
      plainGroup(1, 0),
    ]);
    expect(await all(reader.groups(1))).toHaveLength(2);
  });

  it('replace a step as a whole', async () => {
    await write(1, [plainGroup(1, 0), plainGroup(1, 1)]);
    await write(1, [plainGroup(1, 0, 1)]);
    expect(rows(RolloutReader.open(folder).index)).toHaveLength(1);
  });
});

describe('what a killed process leaves', () => {
  it('at any length of the index or a shard, reading is clear and writing goes on', async () => {
    const groups = Array.from({ length: 4 }, (_, group) => plainGroup(2, group));
    await write(
      1,
      groups.map((group) => ({ ...group, step: 1 })),
    );
    await write(2, groups);
    const files = ['index.bin', '2.jsonl.gz'].map(
      (name) => [name, readFileSync(join(folder, name))] as const,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (file, share) => {
          for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
          const [name, bytes] = file;
          truncateSync(join(folder, name), Math.floor(bytes.length * share));
          try {
            const read = await all(RolloutReader.open(folder).groups(2));
            expect(groups.slice(0, read.length)).toStrictEqual(read);
            if (name === 'index.bin') expect(read).toHaveLength(4);
          } catch (error) {
            expect(TurnwiseError.isInstance(error) && error.code).toBe('rollouts-invalid');
          }
          repairIndex(index(), folder, []);
          await write(3, groups);
          const reader = RolloutReader.open(folder);
          expect(await all(reader.groups(3))).toHaveLength(4);
          expect(await all(reader.groups(1))).toHaveLength(4);
          rmSync(join(folder, '3.jsonl.gz'));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is indexed where it was killed before the index, or between a new file and its records', async () => {
    await write(1, [plainGroup(1, 0)]);
    const before = readFileSync(join(folder, 'index.bin'));
    await write(1, [plainGroup(1, 0), plainGroup(1, 1)]);
    await write(2, [plainGroup(2, 0)]);
    writeFileSync(join(folder, 'index.bin'), before);
    expect(rows(RolloutReader.open(folder).index)).toHaveLength(6);
    repairIndex(index(), folder, []);
    expect(rows(index().read())).toEqual(rows(RolloutReader.open(folder).index));
    expect(index().read().length).toBe(8);
  });
});

describe('generations', () => {
  it('are kept apart by the index and by one made anew', async () => {
    for (const step of [1, 2, 3]) await write(step, [plainGroup(step, 0)]);
    index().markReplaced(({ shard }) => shard > 1);
    const generations: Generation[] = [
      { generation: 1, from: -1 },
      { generation: 2, from: 1 },
    ];
    await write(2, [plainGroup(2, 0, 3)], 2);
    const read = RolloutReader.open(folder, generations).index;
    expect(read.steps()).toEqual([1, 2]);
    expect(read.filter()).toHaveLength(5);
    rebuildIndex(index(), folder, generations);
    expect(rows(RolloutReader.open(folder, generations).index)).toEqual(rows(read));
  });
});

describe('the index', () => {
  const anyRecord: fc.Arbitrary<IndexFields> = fc
    .record({
      shard: fc.nat(2 ** 32 - 1),
      offset: fc.nat(2 ** 48 - 1),
      length: fc.nat(2 ** 32 - 1),
      line: fc.nat(65_535),
      step: fc.nat(2 ** 32 - 1),
      group: fc.nat(2 ** 32 - 1),
      member: fc.nat(65_535),
      role: fc.nat(15),
      split: fc.constantFrom('train' as const, 'validation' as const, 'test' as const),
      label: fc.constantFrom('training' as const, 'sampled' as const, 'greedy' as const, 'recorded' as const),
      stop: fc.constantFrom('done' as const, 'cancelled' as const, 'failed:engine' as const),
      flags: fc.nat(63),
      turns: fc.nat(65_535),
      tokens: fc.nat(2 ** 32 - 1),
      return: fc.float(),
      seconds: fc.float(),
      surprise: fc.float(),
      advantage: fc.float(),
      oldestVersion: fc.integer({ min: -32_768, max: 32_767 }),
      newestVersion: fc.integer({ min: -32_768, max: 32_767 }),
      taskHash: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    })
    .map(({ oldestVersion, newestVersion, ...rest }) => ({
      ...rest,
      oldestVersion: rest.step + oldestVersion,
      newestVersion: rest.step + newestVersion,
    }));

  it('gives back any record exactly, in 64 bytes', () => {
    expect(recordBytes).toBe(64);
    fc.assert(
      fc.property(anyRecord, (fields) => {
        const bytes = writeRecord(fields);
        const record = new IndexRecord(new DataView(bytes.buffer), 0);
        for (const name of Object.keys(fields) as (keyof IndexFields)[]) {
          expect(record[name], name).toBe(fields[name]);
        }
      }),
    );
  });

  it('lets the last record of a key, role and label win, unless it is replaced', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ step: fc.nat(1), member: fc.nat(2), role: fc.nat(1), flags: fc.constantFrom(0, 32) }),
        ),
        fc.array(anyRecord, { minLength: 1, maxLength: 1 }),
        (keys, [record]) => {
          const records = keys.map((key, line) => ({
            ...record!,
            group: 0,
            oldestVersion: 0,
            newestVersion: 0,
            ...key,
            line,
          }));
          const expected = new Map<string, number>();
          for (const { step, member, role, flags, line } of records) {
            if (flags !== 0) continue;
            const name = `${step}/${member}/${role}`;
            expected.delete(name);
            expected.set(name, line);
          }
          const found = RolloutIndex.of(records.map(writeRecord)).filter();
          expect(found.map(({ line }) => line)).toEqual([...expected.values()]);
        },
      ),
    );
  });

  it('describes an episode', async () => {
    await write(9, [plainGroup(9, 4)]);
    const [, second] = RolloutReader.open(folder).index.filter();
    expect(second).toMatchObject({
      shard: 9,
      line: 1,
      step: 9,
      group: 4,
      member: 1,
      role: 0,
      split: 'train',
    });
    expect(second).toMatchObject({
      label: 'training',
      stop: 'done',
      flags: 1,
      turns: 1,
      tokens: 2,
      return: 1,
    });
    expect(second).toMatchObject({ surprise: 0.5, advantage: 0.5, oldestVersion: 8, newestVersion: 8 });
    expect(second!.seconds).toBeCloseTo(0.004);
    expect((await RolloutReader.open(folder).readEpisode(second!)).key.member).toBe(1);
  });

  it('of another kind is ignored and made anew', async () => {
    await write(1, [plainGroup(1, 0)]);
    for (const foreign of ['', 'TWIX', 'something else entirely'.repeat(10)]) {
      writeFileSync(join(folder, 'index.bin'), foreign);
      expect(rows(RolloutReader.open(folder).index)).toHaveLength(2);
    }
    repairIndex(index(), folder, []);
    expect(index().read().length).toBe(2);
  });
});

describe('failing writes', () => {
  it.each(['makeFolder', 'writeChunks', 'rename', 'flush', 'append', 'replaceFile'] as const)(
    'in %s surface where somebody waits, and leave what was there',
    async (name) => {
      await write(1, [plainGroup(1, 0)]);
      if (name === 'replaceFile') rmSync(join(folder, 'index.bin'));
      const one = writer(
        1,
        faultyDisk(() => name),
      );
      await one.write(2, [plainGroup(2, 0)]);
      await expect(one.settled()).rejects.toMatchObject({ code: 'disk-full' });
      await expect(one.write(3, [])).rejects.toMatchObject({ code: 'disk-full' });
      expect(await all(RolloutReader.open(folder).groups(1))).toHaveLength(1);
    },
  );

  it('waits when two files wait, so that a slow disk fills no memory', async () => {
    let release = (): void => {};
    const slow: Disk = {
      ...realDisk,
      writeChunks: async (path, chunks) => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        await realDisk.writeChunks(path, chunks);
      },
    };
    mkdirSync(folder, { recursive: true });
    const one = writer(1, slow);
    await one.write(1, []);
    await one.write(2, []);
    let third = false;
    const waiting = one.write(3, []).then(() => {
      third = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(third).toBe(false);
    const releasing = setInterval(() => release(), 10);
    await waiting;
    await one.settled();
    clearInterval(releasing);
  });
});
