import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../run/version.ts';
import { filesOf, makeViewRuns, markup } from '../testing/view-runs.ts';
import { makeBundle } from './bundle.ts';
import { redacted, redaction } from './redact.ts';
import { RunsFolder } from './runs-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-bundle-'));
beforeAll(() => makeViewRuns(root), 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function bundle(name: string, groups: string[] = [], mostBytes = 20e6) {
  const folder = new RunsFolder({ root, version });
  return makeBundle({ folder, run: folder.find(name), groups, raw: false, mostBytes });
}

/** What a document holds, by what it answers. */
function answers(html: string): Map<string, string> {
  const blocks = html.matchAll(/data-answers="([^"]+)">([A-Za-z0-9+/=]+)<\/script>/g);
  return new Map(
    [...blocks].map(([, path, text]) => [path!, gunzipSync(Buffer.from(text!, 'base64')).toString('utf8')]),
  );
}

test('a bundle answers for one run and its chosen groups, and writes nothing into it', async () => {
  const before = filesOf(join(root, 'lake'));
  const { html, episodes, leftOut } = await bundle('lake', ['3/0']);
  const held = answers(html);
  expect([episodes, leftOut]).toEqual([4, 0]);
  expect([...held.keys()].sort()).toEqual(
    [
      '/api/runs',
      '/api/runs/lake',
      ...['config', 'evaluations', 'log', 'metrics', 'places/3', 'places/3/groups/0'].map(
        (name) => `/api/runs/lake/${name}`,
      ),
      ...[0, 1, 2, 3].map((member) => `/api/runs/lake/places/3/groups/0/members/${member}`),
    ].sort(),
  );
  const overview = JSON.parse(held.get('/api/runs/lake')!) as { stored: number[]; evaluated: number[] };
  expect([overview.stored, overview.evaluated]).toEqual([[3], []]);
  expect((JSON.parse(held.get('/api/runs')!) as { runs: unknown[] }).runs).toHaveLength(1);
  expect(filesOf(join(root, 'lake'))).toEqual(before);
});

test('without a choice it takes the groups that differ most, and leaves out what does not fit', async () => {
  const all = await bundle('lake');
  expect(all.episodes).toBeGreaterThan(12);
  const few = await bundle('lake', [], 3000);
  expect(few.episodes).toBeLessThan(all.episodes);
  expect(few.leftOut).toBeGreaterThan(0);
  await expect(bundle('lake', ['3/99'])).rejects.toMatchObject({ code: 'episode-unknown' });
});

test('text of an episode is no markup of the document', async () => {
  const { html } = await bundle('hostile');
  expect(html).not.toContain(markup);
  expect(html.match(/<\/script>/g)).toHaveLength(answers(html).size + 1);
});

test('secrets are left out, by name and by form; names and numbers stay', () => {
  const key = `sk-${'a1'.repeat(12)}`;
  expect(
    redacted({
      apiKey: 'x',
      turnTokens: 12,
      token: 5,
      rows: [
        { key: 'server.password', value: 'secret', usual: '' },
        { key: 'model.width', value: 3 },
      ],
      text: `Authorization: Bearer abcdefghijklmnop and ${key}.`,
      key: { step: 1 },
    }),
  ).toEqual({
    apiKey: redaction,
    turnTokens: 12,
    token: 5,
    rows: [
      { key: 'server.password', value: redaction, usual: '' },
      { key: 'model.width', value: 3 },
    ],
    text: `Authorization: ${redaction} and ${redaction}.`,
    key: { step: 1 },
  });
});
