/** The routes that ask a session's model something, each in its dialect. */

import { type Context, Hono } from 'hono';
import type { Json } from '../../core/json/json.ts';
import { type ApiErrorParts, badRequest, notFound, openaiError } from './api-error.ts';
import { chatCompletions } from './dialects/chat-completions.ts';
import { comingOf, LiveAnswer } from './dialects/coming.ts';
import { type Answer, type Dialect, type Exchange, type Kept, refOf } from './dialects/dialect.ts';
import { messages, readCountedTokens } from './dialects/messages.ts';
import { inputItems, readInputTokens, responses } from './dialects/responses.ts';
import { textCompletions } from './dialects/text-completions.ts';
import { eventStream } from './event-stream.ts';
import type { Gateway } from './gateway.ts';
import { PURPOSE_HEADER, readPurpose } from './purpose.ts';
import { checkFormat } from './response-format.ts';
import type { GatewaySession } from './session/session.ts';

/** Names what a request asked for in vain. */
const IGNORED_HEADER = 'x-turnwise-ignored';

/** How an error is worded where somebody asks there. */
export function wordingOf({ req }: Context): (error: ApiErrorParts) => object {
  return /\/v1\/messages(\/|$)/.test(req.path) ? messages.error : openaiError;
}

/**
 * @param sessionOf whose key the request has
 * @param bodyOf the parsed body of a request
 */
export function answerRoutes(
  gateway: Gateway,
  sessionOf: (context: Context) => GatewaySession,
  bodyOf: (context: Context, absent?: Json) => Promise<unknown>,
): Hono {
  const app = new Hono();
  const asking =
    (dialect: Dialect) =>
    async (context: Context): Promise<Response> => {
      const session = sessionOf(context);
      session.came();
      return answer(gateway, session, dialect, await bodyOf(context), context);
    };
  const counting =
    (read: typeof readInputTokens) =>
    async (context: Context): Promise<Response> => {
      const session = sessionOf(context);
      const body = await bodyOf(context);
      gateway.admit(session.id);
      const { call, told } = read(
        body,
        session.reading(body, () => {}),
      );
      return Response.json(told(session.promptTokens(call)));
    };
  app.post('/v1/chat/completions', asking(chatCompletions));
  app.post('/v1/completions', asking(textCompletions));

  app.post('/v1/responses', asking(responses));
  app.post('/v1/responses/input_tokens', counting(readInputTokens));
  app.post('/v1/responses/compact', () => {
    throw notFound('unknown_route', 'History is not compacted here: send the items that are to be kept.');
  });
  app.get('/v1/responses/:response', (context) => {
    const { exchange, answer } = responseOf(context, sessionOf(context));
    return Response.json(exchange.whole(answer));
  });
  app.get('/v1/responses/:response/input_items', (context) =>
    Response.json(inputItems(responseOf(context, sessionOf(context)).exchange)),
  );
  app.delete('/v1/responses/:response', (context) => {
    const session = sessionOf(context);
    responseOf(context, session);
    const id = context.req.param('response');
    session.memory.forget(refOf(id));
    return Response.json({ id, object: 'response', deleted: true });
  });
  app.post('/v1/responses/:response/cancel', (context) => {
    responseOf(context, sessionOf(context));
    throw badRequest(
      'not_in_background',
      'Only responses in the background can be cancelled; this one was not.',
    );
  });

  // Clients of Anthropic's differ in whether the base URL ends in /v1.
  for (const base of ['/v1', '/v1/v1']) {
    app.post(`${base}/messages`, asking(messages));
    app.post(`${base}/messages/count_tokens`, counting(readCountedTokens));
  }
  return app;
}

function responseOf(context: Context, session: GatewaySession): Kept {
  const id = context.req.param('response') ?? '';
  const kept = id.startsWith('resp_') ? session.memory.kept(refOf(id)) : undefined;
  if (kept?.exchange.keeps === 'response') return kept;
  throw notFound('response_not_found', `There is no response "${id}" in this session.`);
}

async function answer(
  gateway: Gateway,
  session: GatewaySession,
  dialect: Dialect,
  body: unknown,
  context: Context,
): Promise<Response> {
  const purpose = readPurpose(context.req.header(PURPOSE_HEADER));
  const ignored = new Set<string>();
  const exchange = dialect.read(
    body,
    session.reading(body, (key) => ignored.add(key)),
  );
  const hangUp = new AbortController();
  const signal = AbortSignal.any([context.req.raw.signal, hangUp.signal]);
  const created = Math.floor(Date.now() / 1000);
  // Of several answers the first would have to wait for the others' turn.
  const live = exchange.stream && exchange.call.choices === 1 ? new LiveAnswer() : undefined;
  const answered = settled(exchange, async () => {
    const call = { ...exchange.call, ...purpose };
    if (call.kind === 'chat') checkFormat(call.responseFormat);
    const choices = await gateway.call(session.id, call, signal, live);
    const made: Answer = { choices, created };
    if (exchange.keeps) session.memory.keep(choices[0]!.ref, { exchange, answer: made, continued: 'not' });
    return made;
  });
  // A stream may begin before its answer is there.
  answered.catch(() => {});
  const headers: Record<string, string> = {
    'request-id': `req_${session.tag}_${Date.now().toString(36)}`,
  };
  for (const key of ignored) gateway.ignore(key);
  if (ignored.size > 0) headers[IGNORED_HEADER] = [...ignored].join(', ');
  if (!exchange.stream) return Response.json(exchange.whole(await answered), { headers });
  return eventStream(exchange.events(comingOf(answered, created, live)), {
    failed: dialect.errorEvent,
    silenceMs: gateway.limits.silenceMs,
    headers,
    cancelled: () => hangUp.abort(),
  });
}

async function settled(exchange: Exchange, work: () => Promise<Answer>): Promise<Answer> {
  try {
    const made = await work();
    exchange.settled?.(true);
    return made;
  } catch (error) {
    exchange.settled?.(false);
    throw error;
  }
}
