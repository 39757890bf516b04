/** Routes about saved weights: lists, descriptions, downloads, and how long they stay. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { tarOf } from '../../wire/tinker/tar.ts';
import { type App, callOf, jsonOf, type Post } from './bodies.ts';
import {
  type CheckpointCard,
  type CheckpointPlace,
  expiry,
  type ListedCheckpoint,
  parsePath,
  pathOf,
} from './checkpoints.ts';
import { invalid } from './refusals.ts';
import * as requests from './requests.ts';
import { read } from './requests.ts';
import type { ServedModel } from './served-model.ts';
import type { TinkerServer } from './tinker-server.ts';

/** What the engine keeps beside the weights, and no other program reads. */
const ownFiles: ReadonlySet<string> = new Set(['optimizer.safetensors', 'frozen.safetensors']);

export function checkpointRoutes(app: App, server: TinkerServer, post: Post): void {
  const { checkpoints } = server;
  post('weights_info', async (body) => {
    const place = parsePath(read(requests.weightsInfoSchema, body).tinker_path, 'weights');
    const { baseModel, isLora, rank } = await checkpoints.require(place);
    return { base_model: baseModel, is_lora: isLora, lora_rank: isLora ? rank : null };
  });
  app.get('/api/v1/checkpoints', async (context) => {
    const { limit, offset } = read(requests.pageSchema, context.req.query());
    const all = await checkpoints.all();
    return context.json({
      checkpoints: all.slice(offset, offset + limit).map(describeCheckpoint),
      cursor: { offset, limit, total_count: all.length },
    });
  });
  app.get('/api/v1/billing/usage/checkpoints/current', async (context) => {
    const all = await checkpoints.all();
    const bytes = all.reduce((sum, checkpoint) => sum + checkpoint.bytes, 0);
    const usage = { checkpoint_count: all.length, size_bytes: bytes, size_gigabytes: bytes / 1e9 };
    return context.json({ data: all.length === 0 ? [] : [usage] });
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
  const marked = `${runs}/:model/checkpoints/:kind/:name`;
  const mark = async (
    context: Context,
    change: (card: CheckpointCard) => CheckpointCard,
  ): Promise<Response> => {
    const { model, kind, name } = context.req.param() as Record<'model' | 'kind' | 'name', string>;
    const place = placeOf(model, `${kind}/${name}`, undefined);
    await checkpoints.mark(place, change);
    return context.body(null, 204);
  };
  app.post(`${marked}/publish`, (context) => mark(context, (card) => ({ ...card, isPublic: true })));
  app.delete(`${marked}/publish`, (context) => mark(context, (card) => ({ ...card, isPublic: false })));
  app.put(`${marked}/ttl`, async (context) => {
    const { bytes } = await callOf(context, 'ttl');
    const { ttl_seconds } = read(requests.ttlSchema, jsonOf(bytes));
    const expiresAt = expiry(ttl_seconds);
    return mark(context, ({ expiresAt: _before, ...card }) => ({
      ...card,
      ...(expiresAt !== undefined && { expiresAt }),
    }));
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
    public: card.isPublic ?? false,
    user_metadata: null,
    expires_at: card.expiresAt ?? null,
  };
}
