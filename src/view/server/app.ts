/** The routes of the viewer: files of runs as JSON and numbers. It writes nothing but what a person says of an episode. */

import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { streamSSE } from 'hono/streaming';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { TurnwiseError } from '../../core/errors.ts';
import { exactJson } from '../../core/json/exact-json.ts';
import { encodeSeries } from '../series.ts';
import { annotate, readAnnotations } from './annotations.ts';
import { comparisonNames, readComparison } from './comparisons.ts';
import { settingsOf } from './configuration.ts';
import { creditOf, methodRows } from './credit.ts';
import { memberAt, shownEpisode, textAt } from './episode.ts';
import { evaluationGrid } from './evaluated.ts';
import { Groups } from './groups.ts';
import { judgedRun } from './judged-episodes.ts';
import { tellRun, tellRuns } from './live.ts';
import { logPage } from './log-page.ts';
import { outlineOf } from './outline.ts';
import { overviewOf, problemOf, rowOf } from './overview.ts';
import type { PageFiles } from './page-files.ts';
import { piecesOf } from './pieces.ts';
import type { Plays } from './plays.ts';
import type { RunsFolder } from './runs-folder.ts';
import { secure, type ViewApp } from './security.ts';
import { groupsAt, memberRows, shardAt } from './step-episodes.ts';
import type { WatchedRun } from './watched-run.ts';

const status: Readonly<Record<string, ContentfulStatusCode>> = {
  'request-unauthorized': 401,
  'request-host': 403,
  'request-origin': 403,
  'request-type': 415,
  'request-too-large': 413,
  'run-unknown': 404,
  'episode-unknown': 404,
  'comparison-unknown': 404,
  'play-unknown': 404,
  'play-busy': 409,
  'route-unknown': 404,
  'episode-too-large': 413,
  unexpected: 500,
};

const bodyBytes = 256 * 1024;
const mostPixels = 4096;
const mostNames = 64;
/** Of a text, at once. */
const mostCharacters = 64 * 1024;

export interface ViewParts {
  readonly key: string;
  readonly page: PageFiles;
  readonly plays?: Plays;
  /** A run as one document. */
  readonly bundle?: (run: WatchedRun) => Promise<string>;
}

export function viewApp(folder: RunsFolder, { key, page, plays, bundle }: ViewParts): ViewApp {
  const app: ViewApp = new Hono();
  const groups = new Groups();
  app.onError((error, context) => failure(context, error));
  secure(app, key);
  const limited = bodyLimit({ maxSize: bodyBytes, onError: (context) => failure(context, tooLarge()) });
  // It makes a whole request of what has no body, too.
  app.use((context, next) => (context.req.method === 'GET' ? next() : limited(context, next)));

  app.get('/api/runs', (context) => {
    const runs = folder.list();
    const mark = `"${hash(runs.map((run) => `${run.name} ${run.mark()}`).join('\n'))}"`;
    if (context.req.header('if-none-match') === mark) return context.body(null, 304);
    context.header('etag', mark);
    return context.json({ root: folder.root, begin: folder.begin, runs: runs.map(rowOf) });
  });
  app.get('/api/comparisons', (context) => context.json(comparisonNames(folder.root)));
  app.get('/api/comparisons/:name', (context) =>
    context.json(readComparison(folder.root, context.req.param('name'))),
  );
  app.get('/api/runs/:run', (context) =>
    context.json(overviewOf(folder, folder.find(context.req.param('run')))),
  );
  app.get('/api/runs/:run/metrics', (context) => {
    const table = folder.find(context.req.param('run')).metrics();
    const names = (context.req.query('names') ?? '').split(',').filter(Boolean).slice(0, mostNames);
    const pixels = Math.min(mostPixels, Math.max(1, Number(context.req.query('px')) || 1200));
    const bytes = encodeSeries(table.series(names, pixels));
    return context.body(bytes as Uint8Array<ArrayBuffer>, 200, {
      'content-type': 'application/octet-stream',
    });
  });
  app.get('/api/runs/:run/metric-summaries', (context) => {
    const table = folder.find(context.req.param('run')).metrics();
    return context.json(table.names().map((name) => table.summary(name)));
  });
  app.get('/api/runs/:run/config', async (context) =>
    context.json(await settingsOf(folder.find(context.req.param('run')).config())),
  );
  app.get('/api/runs/:run/evaluations', (context) => {
    const wanted = (context.req.query('with') ?? '').split(',').flatMap((text) => whole(text) ?? []);
    return context.json(evaluationGrid(folder.find(context.req.param('run')), wanted));
  });
  app.get('/api/annotations', (context) =>
    context.json(
      folder
        .list()
        .map((run) => ({ run: run.name, annotations: readAnnotations(run).length }))
        .filter(({ annotations }) => annotations > 0),
    ),
  );
  app.get('/api/runs/:run/judged', async (context) =>
    context.json(await judgedRun(folder, folder.find(context.req.param('run')))),
  );
  app.get('/api/runs/:run/annotations', (context) =>
    context.json(readAnnotations(folder.find(context.req.param('run')))),
  );
  app.post('/api/runs/:run/annotations', async (context) => {
    const body: unknown = await context.req.json().catch(() => undefined);
    return context.json(await annotate(folder.find(context.req.param('run')), groups, body));
  });
  app.get('/api/runs/:run/log', (context) => {
    const { eventsPath } = folder.find(context.req.param('run'));
    return context.json(logPage(eventsPath, whole(context.req.query('before'))));
  });
  app.get('/api/runs/:run/places/:place', (context) => {
    const { run, place } = context.req.param();
    const { index } = folder.find(run).places();
    return context.json({ place, members: memberRows(groupsAt(index, shardAt(place))) });
  });

  const group = '/api/runs/:run/places/:place/groups/:group';
  const read = (context: Context) => {
    const { run, place, group: number } = context.req.param() as Record<string, string>;
    return groups.read(folder.find(run!), place!, Number(number), context.req.query('label'));
  };
  app.get(group, async (context) => context.json(outlineOf(await read(context))));
  app.get(`${group}/methods`, async (context) => context.json(methodRows((await read(context)).group)));
  app.get(`${group}/members/:member`, async (context) => {
    const { run: name, place, member } = context.req.param();
    const run = folder.find(name);
    const header = await groups.header(run, place).catch(() => undefined);
    const parts = { read: await read(context), member: Number(member), pieces: piecesOf(run.path), header };
    return context.json(shownEpisode(parts));
  });
  app.get(`${group}/members/:member/text`, async (context) => {
    const from = whole(context.req.query('from')) ?? 0;
    const text = textAt(
      await read(context),
      Number(context.req.param('member')),
      context.req.query('at') ?? '',
    );
    return context.json({ text: text.slice(from, from + mostCharacters), whole: text.length });
  });
  app.get(`${group}/members/:member/raw`, async (context) => {
    const text = exactJson(memberAt(await read(context), Number(context.req.param('member'))));
    return context.body(text, 200, { 'content-type': 'application/json' });
  });
  app.post('/api/credit', async (context) => {
    const body: unknown = await context.req.json().catch(() => undefined);
    return context.json(await creditOf(folder, groups, body));
  });
  if (bundle) {
    app.get('/api/runs/:run/bundle', async (context) =>
      context.body(await bundle(folder.find(context.req.param('run'))), 200, {
        'content-type': 'text/plain',
      }),
    );
  }
  if (plays) {
    app.post('/api/plays', async (context) => {
      const body: unknown = await context.req.json().catch(() => undefined);
      return context.json({ id: plays.open(body) });
    });
    app.post('/api/plays/:id', async (context) => {
      plays.move(context.req.param('id'), await context.req.json().catch(() => undefined));
      return context.json({});
    });
    app.delete('/api/plays/:id', (context) => {
      plays.stop(context.req.param('id'));
      return context.json({});
    });
    app.get('/api/plays/:id', (context) => {
      const after = whole(context.req.header('last-event-id')) ?? 0;
      return streamSSE(context, (stream) => plays.tell(context.req.param('id'), after, stream));
    });
  }
  app.get('/api/live', (context) => {
    const name = context.req.query('run');
    const run = name === undefined ? undefined : folder.find(name);
    const offset = whole(context.req.header('last-event-id') ?? context.req.query('after')) ?? 0;
    return streamSSE(context, (stream) => (run ? tellRun(run, offset, stream) : tellRuns(folder, stream)));
  });
  app.all('/api/*', (context) => failure(context, unknownRoute(`${context.req.method} ${context.req.path}`)));

  const file = (context: Context, name: keyof PageFiles): Response =>
    context.body(page[name].bytes, 200, { 'content-type': page[name].type, 'cache-control': 'no-cache' });
  app.get('/main.js', (context) => file(context, 'main.js'));
  app.get('/main.css', (context) => file(context, 'main.css'));
  // Addresses of pages are the page's own.
  app.get('*', (context) => file(context, 'index.html'));
  return app;
}

function failure(context: Context, error: unknown): Response {
  const { code, message } = problemOf(error);
  return context.json({ error: { code, message } }, status[code] ?? (code === 'unexpected' ? 500 : 422));
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');

function whole(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const unknownRoute = (seen: string): TurnwiseError =>
  new TurnwiseError('route-unknown', { what: 'There is no such route', seen: seen.slice(0, 200) });

const tooLarge = (): TurnwiseError =>
  new TurnwiseError('request-too-large', {
    what: 'The body of the request is too large',
    allowed: `${bodyBytes} bytes`,
  });
