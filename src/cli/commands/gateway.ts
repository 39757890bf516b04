/** `turnwise gateway`: sessions over HTTP for agents in other processes or languages, recorded as episodes. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import type { StopReason } from '../../core/stop.ts';
import { enginePolicy } from '../../policy/engine-policy.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
import type { ChatModel } from '../../server/gateway/chat-model.ts';
import { Gateway } from '../../server/gateway/gateway.ts';
import { POLICY_NAME, policyModel } from '../../server/gateway/policy-model.ts';
import { SessionKeys } from '../../server/gateway/session-keys.ts';
import { episodeOf, type SessionRecord } from '../../server/gateway/session-record.ts';
import { parseUpstream, upstreamModel } from '../../server/gateway/upstream-model.ts';
import { appendLines } from '../../store/runs.ts';
import { conversationRendererOf } from '../../train/model-card.ts';
import { type Command, defineCommand } from '../command.ts';
import { allowHostOption } from '../served-key.ts';

const options = z.strictObject({
  policy: z
    .string()
    .optional()
    .describe('A model elsewhere: openai:URL or vllm:URL, with #MODEL; key in OPENAI_API_KEY'),
  record: z.string().optional().describe('File to which ended sessions are appended, as JSON lines'),
  host: z.string().default('127.0.0.1').describe('Address to listen at; the default is this machine alone'),
  allowHost: allowHostOption,
  port: z.int().min(0).max(65_535).default(8181).describe('Port; 0 takes any free one'),
  maxCalls: z.int().min(1).default(64).describe('Calls of one session'),
  leaseMs: z.int().min(1000).default(600_000).describe('A session ends after so long without a call'),
  drainMs: z
    .int()
    .min(0)
    .default(25_000)
    .describe('How long calls under way may take once it is told to stop; telling it again drops them'),
  step: z.int().min(0).optional().describe('Which checkpoint; default: the last'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
});

export const gatewayCommand: Command<typeof options> = defineCommand({
  name: 'gateway',
  summary: 'Serve an agent’s model over HTTP and record what it does',
  arguments: [{ name: 'run', description: 'Name of a run of an agent; or --policy', required: false }],
  options,
  examples: [
    'turnwise gateway company-facts-rloo-1 --record sessions.jsonl',
    'turnwise gateway --policy vllm:http://localhost:8000/v1#qwen3-8b --port 8181',
  ],
  async run({ arguments: { run }, options: given, console, interrupts }) {
    const { policy, record, host, allowHost, port, maxCalls, leaseMs, drainMs } = given;
    const { model, environment, close } =
      policy === undefined ? await trained(run, given, interrupts.signal) : elsewhere(policy);
    const keys = record === undefined ? undefined : await SessionKeys.after(record, environment);
    let sessions = 0;
    const gateway = await new Gateway({
      host,
      port,
      allowHosts: allowHost,
      limits: { leaseMs },
      newSession: () => ({
        name: `gateway/${sessions++}`,
        seed: Rng.of('gateway', process.pid, Date.now(), sessions).uint32(),
        model,
        maxCalls,
      }),
      onEnd: (ended) => {
        if (record === undefined || keys === undefined) return;
        const about = { key: keys.next(ended.task), version: model.version, stop: stopOf(ended) };
        appendLines(record, [episodeOf(ended, about)]);
      },
    }).start();
    const stop = new AbortController();
    interrupts.soften(() => stop.abort(), drainMs);
    try {
      console.write(`Listening at ${gateway.address}\n  key   ${gateway.key}\n`);
      console.write(
        `  try   curl -X POST ${gateway.address}/sessions -H 'authorization: Bearer ${gateway.key}'\n`,
      );
      await new Promise<void>((resolve) => {
        AbortSignal.any([stop.signal, interrupts.signal]).addEventListener('abort', () => resolve(), {
          once: true,
        });
      });
      const { running } = gateway.state;
      if (running > 0) console.writeError(`Finishing ${running} calls. Ctrl-C again drops them.\n`);
    } finally {
      await gateway.stop(drainMs, interrupts.signal);
      await close();
    }
  },
});

interface Served {
  readonly model: ChatModel;
  /** What episodes that are kept are said to be of. */
  readonly environment: string;
  close(): Promise<void>;
}

function elsewhere(policy: string): Served {
  const upstream = parseUpstream(policy, POLICY_NAME, process.env.OPENAI_API_KEY);
  return { model: upstreamModel(upstream), environment: 'gateway', close: async () => {} };
}

async function trained(
  run: string | undefined,
  { runs, step }: { readonly runs: string; readonly step?: number | undefined },
  signal: AbortSignal,
): Promise<Served> {
  if (run === undefined) throw nothingToServe('neither a run nor --policy');
  const learner = await openCheckpoint({
    root: runs,
    name: run,
    ...(step !== undefined && { step }),
    signal,
  });
  if (!learner.world.agent) {
    await learner.close();
    throw nothingToServe(`"${run}", a run of the environment ${learner.world.name}`);
  }
  const renderer = await conversationRendererOf(learner.card, learner.config);
  // Nobody is waited for: each call is sampled when it comes.
  const policy = enginePolicy(learner.engine, renderer, new Lockstep());
  const { contextLength } = learner.engine.capabilities;
  return {
    model: policyModel({ policy, renderer, contextLength }),
    environment: learner.world.name,
    close: () => learner.close(),
  };
}

function nothingToServe(seen: string): TurnwiseError {
  return new TurnwiseError('policy-missing', {
    what: 'The gateway needs a model that talks',
    seen,
    allowed: 'a run that trained an agent; or --policy openai:URL or --policy vllm:URL',
    next: 'List runs with: turnwise runs',
  });
}

/** A session without a reward has no outcome to learn from: it counts as cancelled, and one whose lease ran out as late. */
function stopOf({ status, reward }: SessionRecord): StopReason {
  if (status === 'expired') return 'timeout';
  return reward === undefined ? 'cancelled' : 'done';
}
