/**
 * A run as one document that opens from a disk, without a server: the page of the viewer, and what the server would answer for
 * the run, its curves and chosen groups. Each answer is compressed and lies in a block of its own, unpacked when it is needed.
 */

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import { TurnwiseError } from '../../core/errors.ts';
import { trainingShard } from '../../store/rollouts/shard-names.ts';
import { encodeSeries } from '../series.ts';
import type { GroupOutline, RunList, RunOverview } from '../shapes.ts';
import { viewApp } from './app.ts';
import { readPage } from './page-files.ts';
import { redacted } from './redact.ts';
import type { RunsFolder } from './runs-folder.ts';
import { groupsAt, placeOf, shardAt } from './step-episodes.ts';
import type { WatchedRun } from './watched-run.ts';

export interface BundleOptions {
  readonly folder: RunsFolder;
  readonly run: WatchedRun;
  /** `PLACE/GROUP`, such as `12/3` or `evaluation-12/0`; by default those of three steps whose members differ most. */
  readonly groups: readonly string[];
  /** Leave keys and passwords in. */
  readonly raw: boolean;
  readonly mostBytes: number;
}

export interface Bundle {
  readonly html: string;
  readonly episodes: number;
  /** Groups that were left out, since the document would be too large. */
  readonly leftOut: number;
}

/** Of the compressed episodes, unless somebody says otherwise. */
export const mostBundleBytes = 20e6;
const groupsPerStep = 4;
/** Of a curve: as many as a wide screen can show. */
const points = 2000;
const host = '127.0.0.1:80';

/** @throws TurnwiseError `episode-unknown`, `view-unbuilt` */
export async function makeBundle({ folder, run, groups, raw, mostBytes }: BundleOptions): Promise<Bundle> {
  const ask = asker(folder);
  const base = `/api/runs/${encodeURIComponent(run.name)}`;
  const answers = new Map<string, Buffer>();
  const keep = (path: string, value: unknown): void => {
    answers.set(path, Buffer.from(JSON.stringify(raw ? value : redacted(value))));
  };
  const keepAnswer = async (path: string): Promise<unknown> => {
    const value: unknown = JSON.parse(await ask(path));
    keep(path, value);
    return value;
  };
  const chosen = groups.length > 0 ? named(run, groups) : widest(run);
  const list = JSON.parse(await ask('/api/runs')) as RunList;
  keep('/api/runs', { ...list, root: '', runs: list.runs.filter(({ name }) => name === run.name) });
  const overview = JSON.parse(await ask(base)) as RunOverview;
  const places = [...new Set(chosen.map(({ place }) => place))];
  const stored = overview.stored.filter((step) => places.includes(String(step)));
  const evaluated = overview.evaluated.filter((step) => places.includes(`evaluation-${step}`));
  keep(base, { ...overview, stored, evaluated });
  const table = run.metrics();
  answers.set(`${base}/metrics`, Buffer.from(encodeSeries(table.series(table.names(), points))));
  for (const rest of ['/config', '/log', '/evaluations']) await keepAnswer(base + rest);
  for (const place of places) await keepAnswer(`${base}/places/${place}`);
  let [episodes, leftOut, bytes] = [0, 0, 0];
  for (const { place, group, label } of chosen) {
    const path = `${base}/places/${place}/groups/${group}`;
    const query = label === 'training' || label === 'recorded' ? '' : `?label=${label}`;
    const outline = JSON.parse(await ask(path + query)) as GroupOutline;
    const paths = [...new Set(outline.members.map(({ member }) => member))].map(
      (member) => `${path}/members/${member}${query}`,
    );
    const texts = await Promise.all(paths.map(ask));
    bytes += texts.reduce((sum, text) => sum + gzipSync(text).length, 0) * (4 / 3);
    if (bytes > mostBytes) {
      leftOut++;
      continue;
    }
    keep(path + query, outline);
    for (const [index, text] of texts.entries()) keep(paths[index]!, JSON.parse(text));
    episodes += texts.length;
  }
  return { html: documentOf(run.name, answers), episodes, leftOut };
}

/** The routes of the server, asked without a network. */
function asker(folder: RunsFolder): (path: string) => Promise<string> {
  const key = 'bundle';
  const app = viewApp(folder, { key, page: readPage() });
  return async (path) => {
    const headers = { authorization: `Bearer ${key}`, host };
    const incoming = { method: 'GET', headers, socket: { localPort: 80 } } as HttpBindings['incoming'];
    const response = await app.request(path, { headers }, { incoming } as HttpBindings);
    if (response.ok) return response.text();
    const { error } = (await response.json()) as { readonly error: { code: string; message: string } };
    throw new TurnwiseError('bundle-failed', {
      what: `The run could not be bundled: ${error.message}`,
      fields: { code: error.code },
    });
  };
}

interface Chosen {
  readonly place: string;
  readonly group: number;
  readonly label: string;
}

/** @throws TurnwiseError `episode-unknown` */
function named(run: WatchedRun, names: readonly string[]): Chosen[] {
  const { index } = run.places();
  return names.flatMap((name) => {
    const [place = '', number = ''] = name.split('/');
    const found = groupsAt(index, shardAt(place)).filter(({ group }) => String(group) === number);
    if (found.length === 0) {
      throw new TurnwiseError('episode-unknown', {
        what: 'The run has stored no such group',
        seen: name,
        allowed: 'PLACE/GROUP, such as 12/3 or evaluation-12/0',
        next: 'The address of a group in turnwise view has both numbers',
      });
    }
    return found.map(({ group, label }) => ({ place, group, label }));
  });
}

/** Of the first, the middle and the last stored step, the groups whose members differ most, and all with failures. */
function widest(run: WatchedRun): Chosen[] {
  const { index, steps } = run.places();
  const three = [...new Set([steps[0], steps[steps.length >> 1], steps.at(-1)])];
  return three.flatMap((step) => {
    if (step === undefined) return [];
    const shard = trainingShard(step);
    const groups = groupsAt(index, shard).map(({ group, label, records }) => {
      const returns = records.map((record) => record.return).filter(Number.isFinite);
      const spread = returns.length === 0 ? 0 : Math.max(...returns) - Math.min(...returns);
      return {
        place: placeOf(shard),
        group,
        label,
        spread,
        failed: records.some((one) => one.has('failed')),
      };
    });
    return groups
      .sort((a, b) => b.spread - a.spread)
      .filter(({ failed }, order) => failed || order < groupsPerStep);
  });
}

function documentOf(name: string, answers: ReadonlyMap<string, Buffer>): string {
  const page = readPage();
  // In a document a script ends at its end tag, wherever that stands.
  const script = Buffer.from(page['main.js'].bytes).toString('utf8').replaceAll('</script', '<\\/script');
  const style = Buffer.from(page['main.css'].bytes).toString('utf8');
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  const blocks = [...answers].map(
    ([path, body]) =>
      `<script type="application/octet-stream" data-answers="${escaped(path)}">${gzipSync(body, { level: 9 }).toString('base64')}</script>`,
  );
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8" />',
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    '<meta name="viewport" content="width=device-width, initial-scale=1" />',
    '<meta name="color-scheme" content="light dark" />',
    `<meta name="turnwise-bundle" content="${escaped(`/runs/${encodeURIComponent(name)}`)}" />`,
    '<title>Turnwise</title>',
    '<link rel="icon" href="data:," />',
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<div id="page"></div>',
    '<noscript>This document needs JavaScript: it draws everything in this browser.</noscript>',
    ...blocks,
    `<script type="module">${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
