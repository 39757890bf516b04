/** Routes about clients: what they are told of the server, and their sessions. */

import type { App, Post } from './bodies.ts';
import * as requests from './requests.ts';
import { read } from './requests.ts';
import type { TinkerServer } from './tinker-server.ts';

export function sessionRoutes(app: App, server: TinkerServer, post: Post, chunkLength: number): void {
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
  app.get('/api/v1/sessions', (context) => {
    const { limit, offset } = read(requests.pageSchema, context.req.query());
    return context.json({ sessions: server.sessions.ids().slice(offset, offset + limit) });
  });
  app.get('/api/v1/sessions/:id', (context) => {
    const { models, samplers } = server.session(context.req.param('id'));
    return context.json({ training_run_ids: models, sampler_ids: samplers, user_metadata: null });
  });
  app.post('/api/v1/sessions/:id/finish', async (context) => {
    const id = context.req.param('id');
    server.sessions.hear(id);
    await server.endSession(id);
    return context.json({});
  });
}
