/**
 * OpenEnv's WebSocket protocol: one episode for each socket, answers in the order of the questions. `script` is ours: it asks
 * for the words of a scripted player.
 */

import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { jsonProblem } from '../../core/json/json-limits.ts';
import { partOf } from '../../env/mix/part.ts';
import { scriptRequest } from '../../env/wire.ts';
import type { World } from '../../env/world.ts';
import { askScript } from './ask-script.ts';
import { openEpisode } from './open-episode.ts';
import {
  actionRequest,
  episodeOf,
  openingObservation,
  resetRequest,
  stepObservation,
} from './openenv-episode.ts';
import type { SessionTable } from './session-table.ts';
import { stepWithText } from './step-with-text.ts';

type ErrorCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR';

/** Questions that may wait for their answers; a client that asks more without reading is cut off. */
const WAITING_LIMIT = 64;

const NO_EPISODE = 'There is no episode; send "reset" first.';

const question = z.object({ type: z.string(), data: z.unknown().optional() });

/** Serve one socket until it closes. Its session ends with it, or when nothing answers pings for the length of a lease. */
export function serveOpenEnvSocket(socket: WebSocket, world: World, table: SessionTable): void {
  let session: { readonly id: string; readonly episodeId: string | null } | undefined;
  let waiting = 0;
  let queue = Promise.resolve();
  let heardAt = performance.now();

  const send = (type: string, data: unknown): void => socket.send(JSON.stringify({ type, data }));
  const refuse = (code: ErrorCode, message: string, more: JsonObject = {}): void =>
    send('error', { message, code, ...more });
  const endSession = async (): Promise<void> => {
    const ended = session;
    session = undefined;
    // A session whose lease has ended is gone already.
    if (ended !== undefined) await table.close(ended.id).catch(() => {});
  };

  const reset = async (data: unknown): Promise<void> => {
    const request = resetRequest.parse(data ?? {});
    await endSession();
    const episode = episodeOf(request, (split) => world.tasks(split).size);
    const opened = await table.open(() => openEpisode(world, episode));
    session = { id: opened.id, episodeId: request.episode_id ?? null };
    // The socket may have closed while the episode was opened.
    if (socket.readyState !== socket.OPEN) return await endSession();
    send('observation', openingObservation(opened.view));
  };
  const step = async (data: unknown): Promise<void> => {
    const { text } = actionRequest.parse(data);
    if (session === undefined) return refuse('SESSION_ERROR', NO_EPISODE);
    const { nextStep, view } = table.read(session.id);
    const outcome = await stepWithText(world, table, session.id, nextStep, text);
    send('observation', stepObservation(outcome, view.toMove ?? ''));
  };
  const state = (): void => {
    const open = session && table.read(session.id);
    send('state', {
      episode_id: session?.episodeId ?? null,
      step_count: open?.nextStep ?? 0,
      done: open?.view.toMove === null,
    });
  };

  const script = async (data: unknown): Promise<void> => {
    const request = scriptRequest.parse(data);
    if (session === undefined) return refuse('SESSION_ERROR', NO_EPISODE);
    const { protocol } = partOf(world, table.read(session.id).session);
    const action = await askScript(world, table, session.id, request);
    send('script', { text: action === undefined ? null : protocol.format(action) });
  };

  const answer = async (raw: string): Promise<void> => {
    let value: unknown;
    const problem = jsonProblem(raw);
    if (problem !== undefined) return refuse('INVALID_JSON', `The message ${problem}`);
    try {
      value = JSON.parse(raw);
    } catch {
      return refuse('INVALID_JSON', 'The message is not JSON');
    }
    try {
      const { type, data } = question.parse(value);
      if (type === 'reset') await reset(data);
      else if (type === 'step') await step(data);
      else if (type === 'state') state();
      else if (type === 'script') await script(data);
      else if (type === 'close') socket.close(1000);
      else refuse('UNKNOWN_TYPE', `Unknown message type: ${type.slice(0, 100)}`);
    } catch (error) {
      if (error instanceof z.ZodError) {
        const errors = error.issues.map(({ path, message }) => ({ loc: path.map(String), msg: message }));
        return refuse('VALIDATION_ERROR', 'Invalid message', { errors });
      }
      const code = TurnwiseError.isInstance(error) ? error.code : '';
      const message = error instanceof Error ? error.message : String(error);
      if (code === 'session-unknown') {
        session = undefined;
        refuse('SESSION_ERROR', message);
      } else if (code === 'session-limit') {
        refuse('CAPACITY_REACHED', message, {
          active_sessions: table.size,
          max_sessions: table.limits.maxSessions,
        });
      } else {
        refuse('EXECUTION_ERROR', message);
      }
    }
  };

  const renew = (): void => {
    heardAt = performance.now();
    if (session === undefined) return;
    try {
      table.read(session.id);
    } catch {
      // Its lease ended first; the next question is told.
    }
  };
  const pings = setInterval(() => {
    if (performance.now() - heardAt > table.limits.leaseMs) socket.terminate();
    else socket.ping();
  }, table.limits.leaseMs / 3);
  pings.unref();

  socket.on('pong', renew);
  socket.on('message', (raw: RawData) => {
    heardAt = performance.now();
    if (++waiting > WAITING_LIMIT) return socket.terminate();
    queue = queue
      .then(() => answer(raw.toString()))
      .finally(() => {
        waiting--;
      });
  });
  // A frame that breaks the protocol closes the socket; there is nobody to tell.
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(pings);
    queue = queue.then(endSession);
  });
}
