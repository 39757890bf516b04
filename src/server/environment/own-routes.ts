/** Turnwise's own environment protocol over HTTP (docs/environment-servers.md): create, step, snapshot and close, with real status codes. */

import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { createRequest, reopenRequest, scriptRequest, stepRequest } from '../../env/wire.ts';
import type { World } from '../../env/world.ts';
import { askScript } from './ask-script.ts';
import { describeAction, describeWorld } from './describe-world.ts';
import { openEpisode } from './open-episode.ts';
import { readBody } from './requests.ts';
import type { OpenSession, SessionTable } from './session-table.ts';
import type { HeldSnapshot } from './snapshot-table.ts';
import { stepWithText } from './step-with-text.ts';

export function ownRoutes(world: World, table: SessionTable, settings: JsonObject): Hono {
  const app = new Hono();
  app.get('/metrics', (context) =>
    context.text(table.metrics(world.name), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    }),
  );
  app.get('/v1/environment', (context) =>
    context.json(describeWorld(world, table.limits.maxSessions, settings)),
  );

  app.post('/v1/sessions', async (context) => {
    const request = await readBody(context, createRequest);
    const key = idempotencyKey(context);
    const opened = await table.open(
      () => openEpisode(world, request),
      { leaseMs: request.leaseMs, key, body: JSON.stringify(request) },
      request.path?.reduce((sum, { actions }) => sum + actions.length, 0),
    );
    return await given(context, sessionBody(opened), () => table.abandon(opened.id, key));
  });
  app.get('/v1/sessions/:id', (context) => context.json(sessionBody(table.read(context.req.param('id')))));
  app.post('/v1/sessions/:id/step', async (context) => {
    const { step, action, text } = await readBody(context, stepRequest);
    const id = context.req.param('id');
    const outcome =
      text === undefined ? table.step(id, step, action!) : stepWithText(world, table, id, step, text);
    return context.json(await outcome);
  });
  app.post('/v1/sessions/:id/snapshot', async (context) => {
    const held = await table.snapshot(context.req.param('id'), idempotencyKey(context));
    return await given(context, snapshotBody(held), () => table.snapshots.abandon(held.id));
  });
  app.post('/v1/snapshots/:id/sessions', async (context) => {
    const { chance } = await readBody(context, reopenRequest);
    const rng = chance && new Rng(chance);
    const key = idempotencyKey(context);
    const opened = await table.reopen(context.req.param('id'), rng, key);
    return await given(context, sessionBody(opened), () => table.abandon(opened.id, key));
  });
  app.delete('/v1/snapshots/:id', async (context) => {
    await table.snapshots.dispose(context.req.param('id'));
    return context.body(null, 204);
  });
  app.post('/v1/sessions/:id/script', async (context) => {
    const request = await readBody(context, scriptRequest);
    const action = await askScript(world, table, context.req.param('id'), request);
    return context.json({ action: action ?? null });
  });
  app.delete('/v1/sessions/:id', async (context) => {
    await table.close(context.req.param('id'));
    return context.body(null, 204);
  });
  return app;
}

/** What was opened for a client; let go of at once where the client is gone, since nobody else knows of it. */
async function given(context: Context, body: object, abandon: () => Promise<void>): Promise<Response> {
  const { outgoing } = context.env as HttpBindings;
  if (outgoing.destroyed) await abandon();
  return context.json(body, 201);
}

function sessionBody({ id, session, leaseMs, view, nextStep }: OpenSession): object {
  const { part } = session;
  return {
    session: id,
    leaseMs,
    step: nextStep,
    view,
    ...(part && {
      part: { name: part.name, maxTurns: part.maxTurns, action: describeAction(part.protocol) },
    }),
  };
}

function snapshotBody({ id, snapshot, leaseMs }: HeldSnapshot): object {
  return { snapshot: id, cost: snapshot.cost, leaseMs };
}

function idempotencyKey(context: Context): string | undefined {
  const key = context.req.header('idempotency-key');
  if (key === undefined || (key !== '' && key.length <= 255)) return key;
  throw new TurnwiseError('request-invalid', {
    what: 'The idempotency key cannot be used',
    seen: `${key.length} characters`,
    allowed: '1 to 255',
  });
}
