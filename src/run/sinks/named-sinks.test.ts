import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { madeEpisodes, madeEvents, sinkRun } from './made-run.test-helper.ts';
import { namedSinks } from './named-sinks.ts';
import type { Sink } from './sink.ts';
import { SinkSet } from './sink-set.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-named-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  [['tensorbord:x'], 'Did you mean tensorboard?'],
  [['csv'], 'The sink csv needs a target: csv:FILE'],
  [['csv:a', 'csv:a'], 'A sink was named twice'],
  [['otlp:localhost'], 'begins with http'],
  [['otlp:http://me:secret@host'], 'An address holds no password'],
  [['otlp:http://host?episodes=many'], 'takes ?episodes=NUMBER'],
  [['otlp:http://host?key=x'], 'takes ?episodes=NUMBER'],
  [['constructor:x'], 'no sink of that kind'],
])('%j is refused before anything runs', async (words, message) => {
  const error = await namedSinks(words).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'sink-invalid' });
  expect((error as Error).message).toContain(message);
  expect((error as Error).message).not.toContain('secret');
});

test('a file exports a sink', async () => {
  const file = join(folder, 'mine.mjs');
  writeFileSync(
    file,
    'export const seen = [];\nexport const mine = { event: (event) => seen.push(event) };\n',
  );
  const [sink] = await namedSinks([`${file}#mine`]);
  expect(sink).toMatchObject({ event: expect.any(Function) as unknown });
  await expect(namedSinks([`${file}#seen`])).rejects.toMatchObject({ code: 'file-unusable' });
});

test('a sink that throws at episodes is dropped once; the others get everything, and how it ended', async () => {
  const told: unknown[] = [];
  const tell = (what: unknown): void => {
    told.push(what);
  };
  const bad: Sink = {
    event: () => {},
    episodes: async () => Promise.reject(new Error('no room')),
    close: () => tell('closed'),
  };
  const good: Sink = {
    event: ({ type }) => tell(type),
    episodes: ({ label }) => tell(label),
    close: (end) => tell(end),
  };
  const set = await SinkSet.open([bad, good], sinkRun());
  set.event(madeEvents[0]!);
  set.episodes(madeEpisodes);
  await new Promise((resolve) => setImmediate(resolve));
  set.episodes(madeEpisodes);
  await set.close('stopped');
  expect(told).toEqual(['start', 'training', 'training', 'stopped']);
  expect(set.takeFailures()).toEqual(['Sink 1 failed and gets no more events: no room']);
});
