/** The gateway's routes: keys, bodies, shapes. */

import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { exactJson } from '../../core/json/exact-json.ts';
import type { Json } from '../../core/json/json.ts';
import { jsonProblem } from '../../core/json/json-limits.ts';
import { givenKey, guard } from '../guard/guard.ts';
import { sameSecret } from '../guard/secrets.ts';
import { answerRoutes, wordingOf } from './answer-routes.ts';
import { ApiError, badRequest, internalError, notFound } from './api-error.ts';
import type { Gateway } from './gateway.ts';
import type { GatewaySession } from './session/session.ts';
import type { SessionRecord } from './session/session-record.ts';

const creation = z.strictObject({
  task: z.json().optional(),
  lease_ms: z.int().min(100).optional(),
});
const rewarding = z.strictObject({
  value: z.number(),
  call: z.string().optional(),
});
const ending = z.strictObject({
  reward: z.number().optional(),
  success: z.boolean().optional(),
  info: z.json().optional(),
});

/** What the guard refuses, by its statuses. */
const guardStatuses: Readonly<Record<string, 403 | 415>> = {
  'request-host': 403,
  'request-origin': 403,
  'request-type': 415,
};

export function gatewayApp(gateway: Gateway): Hono {
  const app = new Hono();
  app.onError((error, context) => apiErrorOf(error).toResponse(wordingOf(context)));
  app.notFound((context) =>
    notFound('unknown_route', `There is nothing at ${context.req.method} ${context.req.path}.`).toResponse(
      wordingOf(context),
    ),
  );
  app.use(guard({ allowHosts: gateway.allowHosts, bodyTypes: ['application/json'] }));
  app.use(
    bodyLimit({
      maxSize: gateway.limits.bodyBytes,
      onError: () => {
        throw new ApiError({
          status: 413,
          type: 'invalid_request_error',
          code: 'body_too_large',
          message: `The body is larger than ${gateway.limits.bodyBytes} bytes.`,
        });
      },
    }),
  );

  app.get('/health', (context) =>
    context.json({ status: 'ok', sessions: gateway.sessions.length, ...gateway.state }),
  );
  app.get('/sessions', (context) => {
    requireKey(context, gateway);
    return context.json({ object: 'list', data: gateway.sessions.map((id) => ({ id })) });
  });
  app.post('/sessions', async (context) => {
    requireKey(context, gateway);
    const { task, lease_ms: leaseMs } = checked(creation, await readBody(context, {}));
    const session = gateway.create(task as Json | undefined, leaseMs);
    return context.json(
      {
        id: session.id,
        object: 'session',
        base_url: gateway.baseURL(session),
        anthropic_base_url: gateway.anthropicBaseURL(session),
        api_key: session.key,
        models: session.models.map(({ name }) => name),
      },
      201,
    );
  });
  app.get('/sessions/:id', (context) => recordResponse(sessionOf(context, gateway, true).record()));
  const end = async (context: Context): Promise<Response> => {
    const { id } = sessionOf(context, gateway, true);
    const session = gateway.requireLease(id);
    const { reward, success, info } = checked(ending, await readBody(context, {}));
    const record = gateway.end(session.id, {
      ...(reward === undefined ? {} : { reward }),
      ...(success === undefined ? {} : { success }),
      ...(info === undefined ? {} : { info: info as Json }),
    });
    return recordResponse(record);
  };
  app.delete('/sessions/:id', end);
  app.post('/sessions/:id/close', end);

  app.post('/sessions/:id/rewards', async (context) => {
    const { id } = sessionOf(context, gateway, true);
    const { rewards } = gateway.requireLease(id);
    const { value, call } = checked(rewarding, await readBody(context));
    rewards.add(value, call);
    return context.json({ object: 'reward', value, ...(call !== undefined && { call }) }, 201);
  });

  app.get('/sessions/:id/v1/models', (context) => {
    const { models } = sessionOf(context, gateway);
    const data = models.map(({ name }) => ({ id: name, object: 'model', created: 0, owned_by: 'turnwise' }));
    return context.json({ object: 'list', data });
  });
  app.get('/sessions/:id/v1/models/:model', (context) => {
    const name = context.req.param('model');
    if (!sessionOf(context, gateway).models.some((model) => model.name === name)) {
      throw notFound('model_not_found', `There is no model "${name}" here.`);
    }
    return context.json({ id: name, object: 'model', created: 0, owned_by: 'turnwise' });
  });
  app.route(
    '/sessions/:id',
    answerRoutes(gateway, (context) => sessionOf(context, gateway), readBody),
  );
  return app;
}

function recordResponse(record: SessionRecord): Response {
  return new Response(exactJson(record), { headers: { 'content-type': 'application/json' } });
}

/** @param withGatewayKey whether the key of the whole gateway opens it too */
function sessionOf(context: Context, gateway: Gateway, withGatewayKey = false): GatewaySession {
  const session = gateway.find(context.req.param('id') ?? '');
  const key = keyOf(context);
  if (session.opens(key) || (withGatewayKey && sameSecret(key, gateway.key))) return session;
  throw wrongKey('the key of this session');
}

function requireKey(context: Context, gateway: Gateway): void {
  if (!sameSecret(keyOf(context), gateway.key)) throw wrongKey('the key of this gateway');
}

const keyOf = (context: Context): string => givenKey(context.env.incoming.headers);

function wrongKey(which: string): ApiError {
  return new ApiError({
    status: 401,
    type: 'authentication_error',
    code: 'invalid_api_key',
    message: `Send "Authorization: Bearer KEY", or "x-api-key: KEY", with ${which}.`,
  });
}

/** @param absent what an empty body means; without it, an error */
async function readBody(context: Context, absent?: Json): Promise<unknown> {
  const text = await context.req.text();
  if (text === '' && absent !== undefined) return absent;
  const problem = jsonProblem(text);
  if (problem !== undefined) throw badRequest('invalid_json', `The body ${problem}.`);
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('invalid_json', 'The body is not JSON.');
  }
}

function checked<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  const param = path.map(String).join('.');
  throw badRequest(
    'invalid_value',
    param === '' ? message : `${param}: ${message}`,
    param === '' ? undefined : param,
  );
}

function apiErrorOf(error: unknown): ApiError {
  if (TurnwiseError.isInstance(error) && error.code in guardStatuses) return refused(error);
  if (TurnwiseError.isInstance(error) && error.code === 'agent-reward')
    return badRequest('invalid_reward', error.message);
  return error instanceof ApiError ? error : internalError(error);
}

/** A refusal of the guard as an error of the API; clients must not repeat it. */
function refused({ code, message }: TurnwiseError): ApiError {
  const status = guardStatuses[code]!;
  return new ApiError({ status, type: 'permission_error', code: code.replaceAll('-', '_'), message });
}
