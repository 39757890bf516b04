/** The routes of the Tinker API: bodies in, statuses out. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { decodeForwardBackwardRequest, forwardBackwardNumbers } from '../../wire/tinker/protobuf.ts';
import { PROTOBUF } from '../../wire/tinker/shapes.ts';
import { tarOf } from '../../wire/tinker/tar.ts';
import { guard, requireKey } from '../guard/guard.ts';
import { type Call, callOf, jsonOf } from './bodies.ts';
import { type CheckpointPlace, type ListedCheckpoint, parsePath, pathOf } from './checkpoints.ts';
import { invalid, messageOf, statusOf } from './refusals.ts';
import * as requests from './requests.ts';
import { read } from './requests.ts';
import type { ServedModel } from './served-model.ts';
import type { TinkerServer } from './tinker-server.ts';

type App = Hono<{ Bindings: HttpBindings }>;

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

/** What the engine keeps beside the weights, and no other program reads. */
const ownFiles: ReadonlySet<string> = new Set(['optimizer.safetensors', 'frozen.safetensors']);

type Post = (route: string, handle: (body: unknown, call: Call) => object | Promise<object>) => void;

function sessionRoutes(app: App, server: TinkerServer, post: Post, chunkLength: number): void {
  const { source } = server;
  post('client/config', () => ({
    pjwt_auth_enabled: false,
    proto_compress_fwdbwd: false,
    fwdbwd_max_chunk_len: chunkLength,
  }));
  post('client/dynamic_config', () => ({ sample_cancel_enabled: true }));
  post('telemetry', () => ({ status: 'accepted' }));
  app.get('/api/v1/get_server_capabilities', (context) =>
    context.json({
      supported_models: [
        {
          model_name: source.name,
          max_context_length: source.contextLength,
          trainable: true,
          sampleable: true,
        },
      ],
    }),
  );
  post('create_session', (body, { idempotencyKey }) => {
    read(requests.createSessionSchema, body);
    return { session_id: server.sessions.open(idempotencyKey), type: 'create_session' };
  });
  post('session_heartbeat', (body) => {
    server.sessions.hear(read(requests.sessionIdSchema, body).session_id);
    return { type: 'session_heartbeat' };
  });
  app.post('/api/v1/sessions/:id/finish', async (context) => {
    const id = context.req.param('id');
    server.sessions.hear(id);
    await server.endSession(id);
    return context.json({});
  });
}

function checkpointRoutes(app: App, server: TinkerServer, post: Post): void {
  const { checkpoints } = server;
  post('weights_info', async (body) => {
    const place = parsePath(read(requests.weightsInfoSchema, body).tinker_path, 'weights');
    const { baseModel, isLora, rank } = await checkpoints.require(place);
    return { base_model: baseModel, is_lora: isLora, lora_rank: isLora ? rank : null };
  });
  const runs = '/api/v1/training_runs';
  app.get(runs, async (context) => {
    const { limit, offset } = read(requests.pageSchema, context.req.query());
    const models = [...server.models.values()];
    const shown = models.slice(offset, offset + limit);
    return context.json({
      training_runs: await Promise.all(shown.map((model) => describeRun(server, model))),
      cursor: { offset, limit, total_count: models.length },
    });
  });
  app.get(`${runs}/:model`, async (context) =>
    context.json(await describeRun(server, server.model(context.req.param('model')))),
  );
  app.get(`${runs}/:model/checkpoints`, async (context) => {
    const listed = await checkpoints.list(context.req.param('model'));
    return context.json({ checkpoints: listed.map(describeCheckpoint) });
  });
  app.get(`${runs}/:model/checkpoints/:path{.+}/archive`, (context) =>
    context.redirect(context.req.url.replace(/archive$/, 'download'), 302),
  );
  app.get(`${runs}/:model/checkpoints/:path{.+}/download`, async (context) => {
    const place = placeOf(context.req.param('model'), context.req.param('path'), 'sampler_weights');
    await checkpoints.require(place);
    const folder = checkpoints.folder(place);
    const names = (await checkpoints.files(place)).filter((name) => !ownFiles.has(name));
    const files = await Promise.all(
      names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })),
    );
    return context.body(gzipSync(tarOf(files), { level: 1 }), 200, {
      'content-type': 'application/octet-stream',
    });
  });
  app.delete(`${runs}/:model/checkpoints/:path{.+}`, async (context) => {
    const place = placeOf(context.req.param('model'), context.req.param('path'), undefined);
    await checkpoints.require(place);
    await checkpoints.delete(place);
    return context.body(null, 204);
  });
}

/** `kind/name`, or a name alone where one kind goes without saying. */
function placeOf(model: string, path: string, usual: 'sampler_weights' | undefined): CheckpointPlace {
  const parts = path.split('/');
  const kind = parts.length === 2 ? parts[0] : usual;
  if (kind !== 'weights' && kind !== 'sampler_weights')
    throw invalid('The checkpoint has no usable name', path, 'weights/<name> or sampler_weights/<name>');
  return parsePath(`tinker://${model}/${kind}/${parts.at(-1)}`, kind);
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

async function describeRun(server: TinkerServer, { card, lastRequest }: ServedModel): Promise<object> {
  const { modelId, baseModel, isLora, adapter, userMetadata } = card;
  const listed = await server.checkpoints.list(modelId);
  const last = (kind: string): object | null => {
    const found = listed.filter((checkpoint) => checkpoint.kind === kind).at(-1);
    return found === undefined ? null : describeCheckpoint(found);
  };
  return {
    training_run_id: modelId,
    base_model: baseModel,
    model_owner: 'default',
    is_lora: isLora,
    corrupted: false,
    lora_rank: isLora ? adapter.rank : null,
    last_request_time: lastRequest.toISOString(),
    last_checkpoint: last('weights'),
    last_sampler_checkpoint: last('sampler_weights'),
    user_metadata: userMetadata,
  };
}

function describeCheckpoint(checkpoint: ListedCheckpoint): object {
  const { kind, name, card, bytes } = checkpoint;
  return {
    checkpoint_id: `${kind}/${name}`,
    checkpoint_type: kind === 'weights' ? 'training' : 'sampler',
    time: card.time,
    tinker_path: pathOf(checkpoint),
    size_bytes: bytes,
    public: false,
    user_metadata: null,
    expires_at: null,
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
