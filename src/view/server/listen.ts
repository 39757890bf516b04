/** The viewer on a port of this machine, for whoever has the key in the address. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { newKey } from '../../server/guard/secrets.ts';
import { viewApp } from './app.ts';
import { makeBundle, mostBundleBytes } from './bundle.ts';
import { readPage } from './page-files.ts';
import { Plays } from './plays.ts';
import { RunsFolder, type ShownRuns } from './runs-folder.ts';
import type { WatchedRun } from './watched-run.ts';

export interface ViewServer {
  /** Without the key. */
  readonly origin: string;
  readonly key: string;
  /** What to open, with the key where no log of a server ever sees it. @param path such as `/runs/NAME` */
  address(path?: string): string;
  close(): Promise<void>;
}

/** @param port 0 takes a free one @throws TurnwiseError `view-unbuilt`, `serve-port` */
export async function listenView(shown: ShownRuns, port: number): Promise<ViewServer> {
  // Each schema is needed once or twice here, and compiling one takes longer than using it as it is.
  z.config({ jitless: true });
  const key = newKey('');
  const folder = new RunsFolder(shown);
  const plays = new Plays(folder, shown.play ?? false);
  const bundle = async (run: WatchedRun): Promise<string> =>
    (await makeBundle({ folder, run, groups: [], raw: false, mostBytes: mostBundleBytes })).html;
  const app = viewApp(folder, { key, page: readPage(), plays, bundle });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new TurnwiseError('serve-port', {
          what: `Cannot listen on port ${port} of 127.0.0.1`,
          seen: cause.message,
          next: 'Choose another with --port, or 0 for any free one',
          cause,
        }),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    key,
    address: (path = '/') => `${origin}${path}#token=${key}`,
    close: () =>
      new Promise((resolve) => {
        plays.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
