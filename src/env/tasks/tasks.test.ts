import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Split } from '../../core/episode.ts';
import { canonicalJson, type Json } from '../../core/json/json.ts';
import { parseCsvRecord } from './csv-record.ts';
import { readTasks, type TaskSet, type Tasks, tasksIn } from './tasks.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-tasks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SPLITS = ['train', 'validation', 'test'] as const satisfies readonly Split[];
const all = <T>({ size, at }: TaskSet<T>): T[] => Array.from({ length: size }, (_, index) => at(index));
const whole = <T>(tasks: Tasks<T>, place = folder) => {
  const read = readTasks(tasks, place);
  return { train: all(read('train')), validation: all(read('validation')), test: all(read('test')) };
};
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};
const failure = (tasks: Tasks<unknown>): string => {
  try {
    readTasks(tasks, folder)('train');
  } catch (error) {
    return (error as Error).message.replaceAll(folder, 'FOLDER');
  }
  return 'none';
};

describe('one list', () => {
  const words = Array.from({ length: 100 }, (_, index) => `word${index}`);

  test('is split into parts that have no task in common and keep the order of the list', () => {
    const parts = whole(words);
    expect([parts.train.length, parts.validation.length, parts.test.length]).toEqual([80, 10, 10]);
    expect(new Set(SPLITS.flatMap((split) => parts[split])).size).toBe(100);
    for (const split of SPLITS) {
      expect(parts[split]).toEqual(words.filter((word) => parts[split].includes(word)));
    }
  });

  test('is split by what the tasks are: order does not matter, and copies stay together', () => {
    const there = whole([...words].reverse());
    expect(new Set(there.test)).toEqual(new Set(whole(words).test));
    const twice = whole([...words, ...words]);
    expect(new Set(SPLITS.flatMap((split) => [...new Set(twice[split])])).size).toBe(100);
    expect(twice.train.filter((word) => twice.test.includes(word))).toEqual([]);
    // Nine of ten tasks are the same one.
    const copies = whole([...Array<string>(90).fill('same'), ...words.slice(0, 10)]);
    expect(copies.test.filter((word) => copies.train.includes(word))).toEqual([]);
  });

  test('of three tasks gives one to each split; of fewer, all to all', () => {
    const three = whole(['a', 'b', 'c']);
    expect(SPLITS.map((split) => three[split].length)).toEqual([1, 1, 1]);
    expect(whole(['a', 'b']).test).toEqual(['a', 'b']);
  });

  test('may be a numbered set; an endless one is split by number', () => {
    const set: TaskSet<number> = { size: 50, at: (index) => index };
    expect(whole(set).train.length).toBe(40);
    const endless = readTasks<number>({ size: Number.POSITIVE_INFINITY, at: (index) => index });
    const first = (split: Split) => Array.from({ length: 10 }, (_, index) => endless(split).at(index));
    expect(first('train')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 10, 11]);
    expect(first('validation').slice(0, 3)).toEqual([8, 18, 28]);
    expect(first('test').slice(0, 3)).toEqual([9, 19, 29]);
    expect(endless('test').size).toBe(Number.POSITIVE_INFINITY);
  });

  test('of a function is the split as it is', () => {
    expect(whole((split) => [split])).toEqual({
      train: ['train'],
      validation: ['validation'],
      test: ['test'],
    });
    file('only-test.jsonl', '1\n2\n');
    expect(whole((split) => (split === 'test' ? 'only-test.jsonl' : [0])).test).toEqual([1, 2]);
  });
});

describe('files', () => {
  const rows = Array.from({ length: 30 }, (_, id) => ({ id, text: `a "${id}", and\nmore ü` }));
  const csvRow = ({ id, text }: (typeof rows)[number]) => `${id},"${text.replaceAll('"', '""')}"`;

  test('of each kind hold the same tasks', () => {
    const expected = whole(rows);
    file('rows.json', JSON.stringify(rows, null, 2));
    file('rows.jsonl', `\uFEFF${rows.map((row) => JSON.stringify(row)).join('\r\n\n')}`);
    file('rows.csv', `id,text\r\n${rows.map(csvRow).join('\r\n')}\r\n`);
    expect(whole('rows.json')).toEqual(expected);
    expect(whole('rows.jsonl')).toEqual(expected);
    expect(whole(pathToFileURL(join(folder, 'rows.jsonl')))).toEqual(expected);
    const { train } = whole('rows.csv') as { train: readonly { id: string; text: string }[] };
    expect(train).toHaveLength(24);
    for (const { id, text } of train) expect(text).toBe(rows[Number(id)]!.text);
  });

  test('larger than one read are read by index', () => {
    const long = Array.from({ length: 3000 }, (_, id) => ({ id, text: 'ü'.repeat(500 + (id % 7)) }));
    file('long.jsonl', long.map((row) => JSON.stringify(row)).join('\n'));
    const parts = whole<Json>('long.jsonl');
    const seen = SPLITS.flatMap((split) => parts[split].map(canonicalJson));
    expect(new Set(seen)).toEqual(new Set(long.map(canonicalJson)));
  });

  test('are looked for beside the file of the environment', () => {
    file('near.json', '[1,2,3]');
    const world = { name: 'w', tasks: readTasks<number>('near.json', '/nowhere') };
    expect(() => world.tasks('train')).toThrow('/nowhere/near.json');
    expect(tasksIn(world, folder).tasks('train').size).toBe(1);
    const plain = { tasks: () => ({ size: 1, at: () => 0 }) };
    expect(tasksIn(plain, folder)).toBe(plain);
  });

  test('that cannot be used are refused with their line', () => {
    file('broken.jsonl', '{"a":1}\n\n{"a":\n');
    file('broken.json', '[\n1,\n2,,\n3]');
    file('object.json', '{"a": [1]}');
    file('empty.jsonl', '\n\n');
    file('short.csv', 'a,b\n1,2\n"x\ny",1\n3\n');
    file('open.csv', 'a,b\n1,"2\n');
    file('twice.csv', 'a,a\n1,2\n');
    file('tasks.xml', '');
    const names = [
      'broken.jsonl',
      'broken.json',
      'object.json',
      'empty.jsonl',
      'short.csv',
      'open.csv',
      'twice.csv',
    ];
    expect([...names, 'tasks.xml', 'none.jsonl'].map(failure)).toMatchInlineSnapshot(`
      [
        "FOLDER/broken.jsonl:3 is no JSON. Seen: Unexpected end of JSON input. Allowed: JSON. Correct the line, then start again.",
        "FOLDER/broken.json:3 is no JSON. Seen: Unexpected token ',', "[ 1, 2,, 3]" is not valid JSON. Allowed: JSON. Correct the line, then start again.",
        "FOLDER/object.json:1 holds no list. Seen: object. Allowed: an array of tasks; or name it .jsonl, with a task a line. Correct the line, then start again.",
        "FOLDER/empty.jsonl:1 holds no task. Seen: an empty file. Allowed: at least one task. Correct the line, then start again.",
        "FOLDER/short.csv:5 has a record of another length. Seen: 1 fields. Allowed: 2: a, b. Correct the line, then start again.",
        "FOLDER/open.csv:2 is no CSV. Seen: field 2 has a quote in the wrong place, or one that is not closed. Allowed: fields between commas; quotes around those with commas, quotes or line ends. Correct the line, then start again.",
        "FOLDER/twice.csv:1 has a header that names no columns. Seen: "a". Allowed: different names, none empty. Correct the line, then start again.",
        "A task file has an ending that is not known. Seen: FOLDER/tasks.xml. Allowed: .jsonl, .ndjson, .json, .csv. Rename or convert it, or give the tasks as an array.",
        "A task file cannot be read. Seen: FOLDER/none.jsonl (ENOENT). Paths start from the file that defines the environment, and in a program from its working directory.",
      ]
    `);
  });

  test('that change while they are used are refused', () => {
    file('moving.jsonl', '1\n2\n3\n4\n');
    const set = readTasks('moving.jsonl', folder)('train');
    expect(set.size).toBe(2);
    file('moving.jsonl', '1\n2\n3\n4\n5\n');
    expect(() => set.at(0)).toThrow('was changed while it was in use');
  });
});

test('what is no set of tasks is refused', () => {
  expect(failure(undefined as never)).toMatchInlineSnapshot(
    `"The tasks of an environment are no tasks. Seen: undefined. Allowed: an array, { size, at(index) }, the path of a .json, .jsonl or .csv file, or a function from a split to one of these. See docs/write-an-environment.md."`,
  );
  expect(failure((() => 7) as never)).toMatchInlineSnapshot(
    `"The tasks of an environment are no tasks. Seen: 7. Allowed: an array, { size, at(index) }, the path of a .json, .jsonl or .csv file, or a function from a split to one of these. See docs/write-an-environment.md."`,
  );
});

test('records of CSV', () => {
  expect([
    parseCsvRecord('a,,"b ""c"", d"'),
    parseCsvRecord(''),
    parseCsvRecord('a"b'),
    parseCsvRecord('"a"b'),
  ]).toEqual([
    ['a', '', 'b "c", d'],
    [''],
    'field 1 has a quote in the wrong place, or one that is not closed',
    'field 1 has a quote in the wrong place, or one that is not closed',
  ]);
});
