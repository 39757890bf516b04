/** The routes of the Tinker API: bodies in, statuses out. */

import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { decodeForwardBackwardRequest, forwardBackwardNumbers } from '../../wire/tinker/protobuf.ts';
import { PROTOBUF } from '../../wire/tinker/shapes.ts';
import { guard, requireKey } from '../guard/guard.ts';
import { type App, callOf, jsonOf, type Post } from './bodies.ts';
import { checkpointRoutes } from './checkpoint-routes.ts';
import { messageOf, statusOf } from './refusals.ts';
import * as requests from './requests.ts';
import { read } from './requests.ts';
import type { ServedModel } from './served-model.ts';
import { sessionRoutes } from './session-routes.ts';
import type { TinkerServer } from './tinker-server.ts';

export interface AppOptions {
  /** What clients must send as `x-api-key`; without it any key will do. */
  readonly apiKey?: string;
  /** Names by which clients reach the server, beside those of this machine. */
  readonly allowHosts?: readonly string[];
  /** Longest body, in bytes. */
  readonly bodyBytes: number;
  /** How long a question for a result is held. */
  readonly pollMs: number;
  /** Data that clients are asked to send at once. */
  readonly chunkLength: number;
}

export const appOptions: AppOptions = {
  bodyBytes: 32 * 2 ** 20,
  pollMs: 30_000,
  chunkLength: 1024,
};

export function tinkerApp(server: TinkerServer, given: Partial<AppOptions> = {}): App {
  const options = { ...appOptions, ...given };
  const app: App = new Hono();
  app.onError((error, context) => {
    const status = statusOf(error);
    if (status === 429) context.header('retry-after', '1');
    return context.json({ detail: messageOf(error) }, status as 500);
  });
  app.notFound((context) => context.json({ detail: 'Not Found' }, 404));
  app.use(guard({ allowHosts: options.allowHosts ?? [], bodyTypes: ['application/json', PROTOBUF] }));
  app.use(bodyLimit({ maxSize: options.bodyBytes, onError: tooLarge(options.bodyBytes) }));
  app.get('/', (context) => context.json({ name: 'turnwise', api: '/api/v1' }));
  app.get('/api/v1/healthz', (context) => context.json({ status: 'ok' }));
  app.use('/api/v1/*', async (context, next) => {
    if (options.apiKey !== undefined) requireKey(context.env.incoming.headers, options.apiKey);
    await next();
  });

  const post: Post = (route, handle) => {
    app.post(`/api/v1/${route}`, async (context) => {
      const call = await callOf(context, route);
      return context.json(await handle(jsonOf(call.bytes), call));
    });
  };
  /** Requests with numbers, which those after them wait for. */
  const train: Post = (route, handle) =>
    post(route, async (body, call) => {
      try {
        return await handle(body, call);
      } catch (error) {
        server.refuse(body, error);
        throw error;
      }
    });
  sessionRoutes(app, server, post, options.chunkLength);
  post('create_model', (body, { fingerprint }) => server.createModel(body, fingerprint));
  post('get_info', (body) => describeModel(server.model(read(requests.modelIdSchema, body).model_id)));
  train('forward', (body, { fingerprint }) => server.pass(requests.readPass(body, true), fingerprint));
  app.post('/api/v1/forward_backward', async (context) => {
    const { bytes, fingerprint } = await callOf(context, 'forward_backward');
    const isProtobuf = context.req.header('content-type')?.includes(PROTOBUF) ?? false;
    const body = isProtobuf ? undefined : jsonOf(bytes);
    try {
      const request = isProtobuf ? decodeForwardBackwardRequest(bytes) : requests.readPass(body, false);
      return context.json(server.pass(withoutZero(request), fingerprint));
    } catch (error) {
      server.refuse(body ?? forwardBackwardNumbers(bytes), error);
      throw error;
    }
  });
  train('optim_step', (body, { fingerprint }) => server.optimStep(body, fingerprint));
  train('save_weights', (body, { fingerprint }) => server.saveWeights(body, fingerprint));
  train('save_weights_for_sampler', (body, { fingerprint }) => server.saveForSampler(body, fingerprint));
  train('load_weights', (body, { fingerprint }) => server.loadWeights(body, fingerprint));
  post('unload_model', (body) => server.unloadModel(body));
  post('create_sampling_session', (body, { fingerprint }) => server.createSamplingSession(body, fingerprint));
  post('asample', (body, { fingerprint }) => server.sample(body, fingerprint));
  post('cancel_future', (body) => server.cancel(body));
  app.get('/api/v1/samplers/:id', (context) => context.json(server.sampler(context.req.param('id'))));

  app.post('/api/v1/retrieve_future', async (context) => {
    const { bytes } = await callOf(context, 'retrieve_future');
    const { request_id } = read(requests.futureSchema, jsonOf(bytes));
    const result = await server.futures.wait(request_id, options.pollMs);
    if (result === undefined)
      return context.json({ type: 'try_again', request_id, queue_state: 'active' }, 408);
    if (result.protobuf && context.req.header('accept')?.includes(PROTOBUF)) {
      const body = result.protobuf() as Uint8Array<ArrayBuffer>;
      return context.body(body, 200, { 'content-type': PROTOBUF });
    }
    return context.json(result.json);
  });
  checkpointRoutes(app, server, post);
  return app;
}

function describeModel({ card, isUnloaded }: ServedModel): object {
  const { modelId, baseModel, isLora, adapter } = card;
  const { rank } = adapter;
  return {
    model_id: modelId,
    status: isUnloaded ? 'unloaded' : 'created',
    model_data: { base_model: baseModel, model_name: baseModel, lora_config: { rank, seed: null } },
    is_lora: isLora,
    lora_rank: isLora ? rank : null,
    model_name: baseModel,
    type: 'get_info',
  };
}

/** In protobuf a number that was not given is 0. */
function withoutZero<T extends { readonly seqId?: number }>(request: T): T {
  if (request.seqId !== 0) return request;
  const { seqId: _zero, ...rest } = request;
  return rest as T;
}

function tooLarge(bytes: number): (context: Context) => Response {
  return (context) => context.json({ detail: `The body is too large. Allowed: ${bytes} bytes.` }, 413);
}
