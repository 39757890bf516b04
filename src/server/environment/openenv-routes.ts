/** OpenEnv's HTTP routes. As with its own servers, each reset or step is an episode of its own: more needs the WebSocket. */

import { Hono } from 'hono';
import { z } from 'zod';
import type { JsonObject } from '../../core/json/json.ts';
import type { World } from '../../env/world.ts';
import { describeWorld } from './describe-world.ts';
import { openEpisode } from './open-episode.ts';
import {
  actionRequest,
  episodeOf,
  openingObservation,
  type ResetRequest,
  resetRequest,
  schemas,
  stepObservation,
} from './openenv-episode.ts';
import { readBody } from './requests.ts';
import type { OpenSession, SessionTable } from './session-table.ts';
import { stepWithText } from './step-with-text.ts';

const stepRequest = z.object({ action: actionRequest });

export function openEnvRoutes(world: World, table: SessionTable, settings: JsonObject): Hono {
  const app = new Hono();
  const during = async <T>(
    request: ResetRequest,
    work: (opened: OpenSession) => T | Promise<T>,
  ): Promise<T> => {
    const episode = episodeOf(request, (split) => world.tasks(split).size);
    const opened = await table.open(() => openEpisode(world, episode));
    try {
      return await work(opened);
    } finally {
      await table.close(opened.id);
    }
  };

  app.get('/health', (context) => context.json({ status: 'healthy' }));
  app.get('/metadata', (context) =>
    context.json({
      name: world.name,
      description: world.description,
      turnwise: describeWorld(world, table.limits.maxSessions, settings),
    }),
  );
  app.get('/schema', (context) => context.json(schemas()));
  app.get('/state', (context) => context.json({ episode_id: null, step_count: 0, done: false }));
  app.post('/reset', async (context) => {
    const request = await readBody(context, resetRequest);
    return context.json(await during(request, ({ view }) => openingObservation(view)));
  });
  app.post('/step', async (context) => {
    const { action } = await readBody(context, stepRequest);
    const answer = await during({}, async ({ id, view }) =>
      stepObservation(await stepWithText(world, table, id, 0, action.text), view.toMove ?? ''),
    );
    return context.json(answer);
  });
  return app;
}
