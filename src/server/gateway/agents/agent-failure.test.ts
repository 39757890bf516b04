/** Whose fault an agent's error is, where it caught other trouble before: a failure is never a label. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TurnwiseError } from '../../../core/errors.ts';
import { user } from '../../../core/messages.ts';
import type { AgentDefinition, AgentEpisode } from '../../../env/agent.ts';
import type { ChatModel } from '../chat-model.ts';
import { Gateway, type GatewayLimits } from '../gateway.ts';
import { overflow } from '../policy-model.ts';
import { ask, playAgent } from './played-agent.test-helper.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

type Run = AgentDefinition['run'];
type Options = Parameters<typeof playAgent>[2];

const long = 'who '.repeat(50).trim();
const full: Options = { contextLength: 20 };
const cut = { max_tokens: 1 };

/** Goes on whatever becomes of the call. */
const attempt = (...given: Parameters<typeof ask>): Promise<string> => ask(...given).catch(() => '');

/** A model that the agent asks besides. */
function judge(answer: () => string): ChatModel {
  return {
    name: 'judge',
    version: 0,
    author: { kind: 'model', name: 'judge' },
    answer: async () => {
      const text = answer();
      return {
        reply: { content: text, toolCalls: [] },
        text,
        finish: 'stop',
        promptIds: new Int32Array(),
        ids: new Int32Array(),
        logprobs: new Float32Array(),
        tokens: { prompt: 0, completion: 0 },
        sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 16 },
      };
    },
  };
}
const askJudge = (episode: AgentEpisode): Promise<string> => ask(episode, 'is', [], { model: 'judge' });
const saysNo = judge(() => 'no');
const overflowing = judge(() => {
  throw overflow(100, 64);
});

describe('an error that names its origin keeps it', () => {
  /** Its database fails after something else did. */
  const loses =
    (before: (episode: AgentEpisode) => Promise<unknown>, origin = 'tool'): Run =>
    async (episode) => {
      await before(episode);
      throw new TurnwiseError('sandbox-lost', { what: 'The database went away', fields: { origin } });
    };
  const overflows = (episode: AgentEpisode): Promise<string> => attempt(episode, long);
  const isCut = (episode: AgentEpisode): Promise<string> => ask(episode, 'who', [], cut);

  test.each<[string, Run, Options, string]>([
    ['a full context', loses(overflows), full, 'failed:tool'],
    ['a full context', loses(overflows, 'environment'), full, 'failed:environment'],
    [
      'a full context, and shorter calls',
      loses(async (episode) => {
        await overflows(episode);
        await ask(episode, 'who');
        await ask(episode, 'is');
      }),
      full,
      'failed:tool',
    ],
    [
      'too many calls',
      loses(async (episode) => {
        await ask(episode, 'who');
        await attempt(episode, 'who');
      }),
      { maxTurns: 1 },
      'failed:tool',
    ],
    ['a cut answer', loses(isCut, 'grader'), {}, 'failed:grader'],
    ['a cut answer', loses(isCut, 'environment'), {}, 'failed:environment'],
  ])('after %s', async (_case, run, options, stop) => {
    expect(await playAgent(gateway, run, options)).toMatchObject({ stop, outcome: { agent: 0 } });
  });
});

describe('a full context is the end only where nothing was asked for after it', () => {
  test('a later call was answered', async () => {
    const run: Run = async (episode) => {
      await attempt(episode, long);
      await ask(episode, 'who');
      throw new Error('the disk is full');
    };
    expect((await playAgent(gateway, run, full)).stop).toBe('failed:environment');
  });

  test('a later call was refused for something else', async () => {
    const run: Run = async (episode) => {
      await attempt(episode, long);
      return { reward: (await ask(episode, 'who', [], { n: 0 })).length };
    };
    expect((await playAgent(gateway, run, full)).stop).toBe('failed:environment');
  });

  test('again and again: it is the end', async () => {
    const run: Run = async (episode) => {
      await attempt(episode, long);
      return { reward: (await ask(episode, long)).length };
    };
    expect((await playAgent(gateway, run, full)).stop).toBe('context-overflow');
  });

  test('calls that had come before it, and are answered after it, change nothing', async () => {
    let answer = (): void => undefined;
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const run: Run = async (episode) => {
      const slow = ask(episode, 'who');
      await isAsked;
      const refused = await ask(episode, long).catch((error: Error) => error);
      answer();
      await slow;
      throw refused;
    };
    const say = (): Promise<string> =>
      new Promise((resolve) => {
        answer = () => resolve('one');
        asked();
      });
    expect((await playAgent(gateway, run, { ...full, say })).stop).toBe('context-overflow');
  });

  test('another model’s context is not the policy’s', async () => {
    const run: Run = async (episode) => {
      await ask(episode, 'who');
      return { reward: (await askJudge(episode)).length };
    };
    const episode = await playAgent(gateway, run, { foreign: [overflowing] });
    expect(episode.stop).toBe('failed:environment');
    expect(episode.failure).toContain('The prompt has 100 tokens');
  });
});

describe('a cut answer is to blame only where nothing was asked for after it', () => {
  /** Cannot read what it is told after a cut answer. */
  const goesOn =
    (more: (episode: AgentEpisode) => Promise<string>): Run =>
    async (episode) => {
      await ask(episode, 'who', [], cut);
      return { reward: JSON.parse(await more(episode)) as number };
    };

  test.each<[string, Partial<GatewayLimits>, object]>([
    ['a call that took too long', { callTimeoutMs: 40 }, {}],
    ['a call that came too soon', { callsPerSecond: 0.1, callBurst: 1 }, {}],
    ['a call that cannot be read', {}, { n: 0 }],
  ])('%s', async (_case, limits, more) => {
    const strict = await new Gateway({ limits }).start();
    let answers = 0;
    const say = (): string | Promise<string> => (answers++ === 0 ? 'one two' : new Promise(() => {}));
    try {
      const episode = await playAgent(
        strict,
        goesOn((episode) => ask(episode, 'is', [], more)),
        { say },
      );
      expect(episode.stop).toBe('failed:environment');
      expect(episode.calls).toHaveLength(1);
    } finally {
      await strict.stop();
    }
  });

  test.each<[string, Options]>([
    ['a judge that was asked', { foreign: [saysNo] }],
    ['a judge whose context was full', { foreign: [overflowing] }],
  ])('%s', async (_case, options) => {
    expect((await playAgent(gateway, goesOn(askJudge), options)).stop).toBe('failed:environment');
  });

  test('counting tokens asks for nothing', async () => {
    const count = async ({ baseURL, apiKey, model }: AgentEpisode): Promise<string> => {
      const response = await fetch(`${baseURL}/messages/count_tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model, messages: [user('is')] }),
      });
      expect(response.ok).toBe(true);
      return 'no number';
    };
    expect((await playAgent(gateway, goesOn(count))).stop).toBe('invalid-action');
  });
});
