/** `turnwise env serve`: an environment for other processes, machines and languages. */

import { once } from 'node:events';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { environmentKeyVariable } from '../../env/remote/key.ts';
import {
  createWorld,
  environmentHelp,
  environmentNames,
  findEnvironment,
} from '../../run/load/environments.ts';
import { defaultLimits } from '../../server/environment/limits.ts';
import { type EnvironmentServer, serveEnvironment } from '../../server/environment/serve.ts';
import { painter } from '../../show/console.ts';
import { type Command, defineCommand } from '../command.ts';
import { allowHostOption, type ServedKey, servedKey, shownKey } from '../served-key.ts';

const options = z.strictObject({
  port: z.int().min(0).max(65535).default(8700).describe('Port to listen on; 0 takes a free one'),
  host: z
    .string()
    .default('127.0.0.1')
    .describe('Address to listen on; 0.0.0.0 is every network. Others than this machine need --key'),
  allowHost: allowHostOption,
  key: z
    .boolean()
    .default(false)
    .describe(`Ask clients for a key: that of ${environmentKeyVariable}, or a new one, which is printed`),
  sessions: z.int().min(1).default(defaultLimits.maxSessions).describe('Sessions open at once'),
  lease: z
    .int()
    .min(1)
    .default(defaultLimits.leaseMs / 1000)
    .describe('Seconds without a word from its client after which a session is closed'),
  deadline: z
    .int()
    .min(1)
    .default(defaultLimits.stepTimeoutMs / 1000)
    .describe('Longest that a step may take, in seconds'),
  set: z.array(z.string()).default([]).describe('Set an option of the environment; may be repeated'),
  json: z.boolean().default(false).describe('Print the address as JSON'),
});

export const envCommand: Command<typeof options> = defineCommand({
  name: 'env',
  summary: 'Serve an environment to other processes, over OpenEnv and over HTTP',
  arguments: [
    { name: 'action', description: 'serve', required: true },
    { name: 'environment', description: environmentHelp, required: true },
  ],
  options,
  settings: async (given) => {
    const name = given.find((word) => environmentNames.includes(word));
    return name === undefined ? undefined : (await findEnvironment(name)).options;
  },
  examples: [
    'turnwise env serve frozen-lake',
    'turnwise env serve frozen-lake --port 9000 --set slip=0.3',
    'turnwise train turnwise:http://127.0.0.1:9000',
  ],
  async run({ arguments: { action, environment }, options, console, interrupts }) {
    if (action !== 'serve') {
      throw new TurnwiseError('command-unknown', {
        what: `There is no action "${action}" of turnwise env`,
        allowed: 'serve',
        next: `Did you mean "turnwise env serve ${environment}"?`,
      });
    }
    const { port, host, allowHost, sessions, lease, deadline, set, json } = options;
    const key = options.key ? servedKey(environmentKeyVariable, 'tw-') : undefined;
    const factory = await findEnvironment(environment!);
    const server = await serveEnvironment({
      world: createWorld(factory, set),
      port,
      host,
      allowHosts: allowHost,
      ...(key && { key: key.value }),
      limits: { maxSessions: sessions, leaseMs: 1000 * lease, stepTimeoutMs: 1000 * deadline },
      ...(factory.settings && { settings: factory.settings }),
    });
    if (json)
      console.write(`${JSON.stringify({ ...addresses(server), ...(key?.isNew && { key: key.value }) })}\n`);
    else console.write(greeting(factory.name, server, key, painter(console.colour)));
    if (!interrupts.signal.aborted) await once(interrupts.signal, 'abort');
    const open = server.openSessions();
    if (!json) console.write(`\nClosing${open > 0 ? ` ${open} open session${open > 1 ? 's' : ''}` : ''}.\n`);
    await server.close();
  },
});

function addresses({ host, port }: EnvironmentServer): Record<'turnwise' | 'openenv' | 'metrics', string> {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const place = `${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
  return {
    turnwise: `turnwise:http://${place}`,
    openenv: `openenv:ws://${place}`,
    metrics: `http://${place}/metrics`,
  };
}

function greeting(
  name: string,
  server: EnvironmentServer,
  key: ServedKey | undefined,
  paint: ReturnType<typeof painter>,
): string {
  const { turnwise, openenv, metrics } = addresses(server);
  return [
    `${paint('bold', name)} is served. Ctrl-C stops it.`,
    '',
    `  ${paint('dim', 'turnwise')}  turnwise train ${turnwise}`,
    `  ${paint('dim', 'OpenEnv')}   ${openenv.slice('openenv:'.length)}`,
    `  ${paint('dim', 'figures')}   ${metrics}`,
    ...(key ? [`  ${paint('dim', 'key')}       ${shownKey(key)}`] : []),
    '',
  ].join('\n');
}
