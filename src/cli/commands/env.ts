/** `turnwise env`: start a new environment, check or play one, or serve it to other processes, machines and languages. */

import { once } from 'node:events';
import { z } from 'zod';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import type { WorldFactory } from '../../env/factory.ts';
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
import { type Command, defineCommand, type Invocation } from '../command.ts';
import { allowHostOption, type ServedKey, servedKey, shownKey } from '../served-key.ts';
import { checkAndShow } from './env-check.ts';
import { writeEnvironment } from './env-new.ts';
import { playCommand } from './play.ts';

const envOptions = z.strictObject({
  port: z.int().min(0).max(65535).default(8700).describe('serve: port to listen on; 0 takes a free one'),
  host: z
    .string()
    .default('127.0.0.1')
    .describe('serve: address to listen on; 0.0.0.0 is every network. Others than this machine need --key'),
  allowHost: allowHostOption,
  key: z
    .boolean()
    .default(false)
    .describe(
      `serve: ask clients for a key: that of ${environmentKeyVariable}, or a new one, which is printed`,
    ),
  sessions: z.int().min(1).default(defaultLimits.maxSessions).describe('serve: sessions open at once'),
  lease: z
    .int()
    .min(1)
    .default(defaultLimits.leaseMs / 1000)
    .describe('serve: seconds without a word from its client after which a session is closed'),
  deadline: z
    .int()
    .min(1)
    .default(defaultLimits.stepTimeoutMs / 1000)
    .describe('serve: longest that a step may take, in seconds'),
  episodes: z
    .int()
    .min(1)
    .optional()
    .describe('check: episodes of each player; 60 by default, 6 of live environments'),
  slowest: z.number().positive().default(20).describe('check: milliseconds that half of the steps may take'),
  skip: z.array(z.string()).default([]).describe('check: leave this check out; may be repeated'),
  folder: z.string().default('.').describe('new: where the files are written'),
  set: z.array(z.string()).default([]).describe('Set an option of the environment; may be repeated'),
  json: z.boolean().default(false).describe('Print JSON: the report, or the address'),
});

export const envCommand: Command<typeof envOptions> = defineCommand({
  name: 'env',
  summary: 'Start a new environment, check or play one, or serve it over OpenEnv and HTTP',
  arguments: [
    { name: 'action', description: 'new, check, play or serve', required: true },
    { name: 'environment', description: `new: its name; otherwise ${environmentHelp}`, required: true },
  ],
  options: envOptions,
  settings: async (given) => {
    const name = given.find((word) => environmentNames.includes(word));
    return name === undefined ? undefined : (await findEnvironment(name)).options;
  },
  examples: [
    'turnwise env new treasure',
    'turnwise env check ./treasure.ts',
    'turnwise env check frozen-lake --set slip=0.3',
    'turnwise env play ./treasure.ts',
    'turnwise env serve frozen-lake',
    'turnwise env serve frozen-lake --port 9000 --set slip=0.3',
    'turnwise train turnwise:http://127.0.0.1:9000',
  ],
  async run(invocation) {
    const { arguments: given, options, console } = invocation;
    const [action, environment] = [given.action!, given.environment!];
    const { set, json, episodes, slowest, skip, folder } = options;
    if (action === 'new') return writeEnvironment(environment, folder, console);
    if (action === 'check')
      return checkAndShow(
        await findEnvironment(environment),
        { set, json, episodes, slowest, skip },
        invocation,
      );
    if (action === 'play')
      return playCommand.run({ ...invocation, options: playCommand.options.parse({ set }) });
    if (action === 'serve') return serve(await findEnvironment(environment), invocation);
    const actions = ['new', 'check', 'play', 'serve'];
    throw new TurnwiseError('command-unknown', {
      what: `There is no action "${action}" of turnwise env`,
      allowed: actions.join(', '),
      next: `Did you mean "turnwise env ${nearest(action, actions) ?? 'check'} ${environment}"?`,
    });
  },
});

async function serve(
  factory: WorldFactory,
  { options, console, interrupts }: Invocation<z.output<typeof envOptions>>,
): Promise<void> {
  const { port, host, allowHost, sessions, lease, deadline, set, json } = options;
  const key = options.key ? servedKey(environmentKeyVariable, 'tw-') : undefined;
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
}

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
