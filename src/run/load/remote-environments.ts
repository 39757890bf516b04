/** Environments behind an address: `openenv:ws://…`, `agentgym:http://…#textcraft`, `nemo:http://…#tasks.jsonl`, `turnwise:http://…`. */

import { nearest, TurnwiseError } from '../../core/errors.ts';
import type { WorldFactory } from '../../env/factory.ts';

type Connect = (name: string, url: string, fragment: string) => Promise<WorldFactory>;

interface Scheme {
  readonly connect: () => Promise<Connect>;
  readonly urls: readonly string[];
  readonly example: string;
}

const schemes: Readonly<Record<string, Scheme>> = {
  turnwise: {
    connect: async () => {
      const { connectTurnwise } = await import('../../env/remote/turnwise.ts');
      return connectTurnwise as Connect;
    },
    urls: ['http', 'https'],
    example: 'turnwise:http://127.0.0.1:8700',
  },
  openenv: {
    connect: async () => {
      const { connectOpenEnv } = await import('../../env/remote/openenv.ts');
      return connectOpenEnv as Connect;
    },
    urls: ['ws', 'wss', 'http', 'https'],
    example: 'openenv:ws://127.0.0.1:8000',
  },
  agentgym: {
    connect: async () => {
      const { connectAgentGym } = await import('../../env/remote/agentgym.ts');
      return connectAgentGym as Connect;
    },
    urls: ['http', 'https'],
    example: 'agentgym:http://127.0.0.1:36001#textcraft',
  },
  nemo: {
    connect: async () => {
      const { connectNemo } = await import('../../env/remote/nemo.ts');
      return connectNemo as Connect;
    },
    urls: ['http', 'https'],
    example: 'nemo:http://127.0.0.1:8000#tasks.jsonl',
  },
};

/** One example of each, for help. */
export const remoteExamples: readonly string[] = Object.values(schemes).map(({ example }) => example);

/**
 * The environment at an address. Its server is asked at once, so that a wrong address is known before anything runs.
 *
 * @throws TurnwiseError `environment-address`, and what the client of the protocol raises
 */
export async function connectEnvironment(address: string): Promise<WorldFactory> {
  const name = address.slice(0, address.indexOf(':'));
  const scheme = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
  const near = nearest(name, Object.keys(schemes));
  if (scheme === undefined) {
    throw badAddress(
      address,
      Object.keys(schemes)
        .map((known) => `${known}:…`)
        .join(', '),
      near && schemes[near],
    );
  }
  const [url = '', ...fragment] = address.slice(name.length + 1).split('#');
  const protocol = URL.canParse(url) ? new URL(url).protocol.slice(0, -1) : '';
  if (!scheme.urls.includes(protocol)) {
    throw badAddress(address, scheme.urls.map((kind) => `${name}:${kind}://…`).join(', '), scheme);
  }
  const connect = await scheme.connect();
  return connect(address, url, fragment.join('#'));
}

function badAddress(address: string, allowed: string, scheme: Scheme | undefined | ''): TurnwiseError {
  return new TurnwiseError('environment-address', {
    what: 'The address of the environment cannot be read',
    seen: address,
    allowed,
    next: scheme ? `For example: ${scheme.example}` : `For example: ${remoteExamples.join(', ')}`,
    fields: { environment: address },
  });
}
