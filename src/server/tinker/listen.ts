/** The Tinker API on a port. */

import { serve } from '@hono/node-server';
import { TurnwiseError } from '../../core/errors.ts';
import { requireKeyBeyondLoopback } from '../guard/guard.ts';
import { type AppOptions, tinkerApp } from './app.ts';
import type { ServerLimits } from './limits.ts';
import type { ModelSource } from './model-source.ts';
import { TinkerServer } from './tinker-server.ts';

export interface ListenOptions {
  readonly source: ModelSource;
  /** Where saved weights go. */
  readonly folder: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
  readonly limits?: Partial<ServerLimits>;
  readonly app?: Partial<AppOptions>;
}

export interface Listening {
  readonly url: string;
  readonly server: TinkerServer;
  close(): Promise<void>;
}

/** @throws TurnwiseError `serve-open` for a host that others can reach and no key; `serve-port` */
export async function listenTinker(options: ListenOptions): Promise<Listening> {
  const { source, folder, port, host } = options;
  requireKeyBeyondLoopback(host, options.app?.apiKey, 'Give it one, or listen on 127.0.0.1');
  const server = new TinkerServer(source, folder, options.limits);
  const { fetch } = tinkerApp(server, options.app);
  const { listener, taken } = await new Promise<{ listener: ReturnType<typeof serve>; taken: number }>(
    (resolve, reject) => {
      const created = serve({ fetch, port, hostname: host }, (address) =>
        resolve({ listener: created, taken: address.port }),
      );
      created.once('error', (cause: Error) =>
        reject(
          new TurnwiseError('serve-port', {
            what: `Cannot listen on port ${port} of ${host}`,
            seen: cause.message,
            next: 'Choose another with --port',
            cause,
          }),
        ),
      );
    },
  ).catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    server,
    close: async () => {
      listener.close();
      if ('closeAllConnections' in listener) listener.closeAllConnections();
      await server.close();
    },
  };
}
