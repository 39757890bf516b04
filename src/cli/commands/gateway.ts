/**
 * `turnwise gateway`: sessions over HTTP for agents in other processes or languages, recorded as episodes; or any model behind
 * an OpenAI-compatible API.
 */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import type { StopReason } from '../../core/stop.ts';
import type { ConversationRow } from '../../data/row.ts';
import { rowsOfEpisode } from '../../data/rows-of-episode.ts';
import { appendRows, endLine } from '../../data/write-rows.ts';
import { continuous } from '../../policy/batching.ts';
import type { Context } from '../../rollout/context/strategy.ts';
import { isSeated } from '../../run/model/agent-run.ts';
import { openChatEngine } from '../../run/model/chat-engine.ts';
import { tokenizerOfCard } from '../../run/model/tokenizer-hash.ts';
import { type OpenedCheckpoint, openCheckpoint } from '../../run/open-checkpoint.ts';
import { readContext } from '../../run/settings/context-settings.ts';
import type { ChatModel } from '../../server/gateway/chat-model.ts';
import { Gateway } from '../../server/gateway/gateway.ts';
import { POLICY_NAME, policyModel } from '../../server/gateway/policy-model.ts';
import { SessionKeys } from '../../server/gateway/session/session-keys.ts';
import { episodeOf, type SessionRecord, seatsOf } from '../../server/gateway/session/session-record.ts';
import { type SpendMeter, spentText } from '../../server/gateway/spend.ts';
import { parseUpstream, upstreamModel } from '../../server/gateway/upstream/upstream-model.ts';
import { promptPlayers } from '../../train/kit/learner.ts';
import { conversationRendererOf } from '../../train/model-card.ts';
import { type Command, defineCommand } from '../command.ts';
import { allowHostOption } from '../served-key.ts';
import { meterOf, spendOptions } from '../spend-options.ts';

const options = z.strictObject({
  model: z
    .string()
    .optional()
    .describe(
      'Serve this model: a run, a GGUF file, a checkpoint folder, owner/name on the hub, ollama:NAME',
    ),
  policy: z
    .string()
    .optional()
    .describe('A model elsewhere: openai:URL or vllm:URL, with #MODEL; key in OPENAI_API_KEY'),
  record: z.string().optional().describe('Dataset file to which sessions are appended as they end'),
  host: z.string().default('127.0.0.1').describe('Address to listen at; the default is this machine alone'),
  allowHost: allowHostOption,
  port: z.int().min(0).max(65_535).default(8181).describe('Port; 0 takes any free one'),
  set: z
    .array(z.string())
    .default([])
    .describe('Set the context of conversations: context=NAME, context.OPTION=VALUE; may be repeated'),
  sessionCalls: z.int().min(1).default(64).describe('Calls of one session'),
  ...spendOptions,
  leaseMs: z.int().min(1000).default(600_000).describe('A session ends after so long without a call'),
  drainMs: z
    .int()
    .min(0)
    .default(25_000)
    .describe('How long it waits for calls in progress when it stops; a second signal drops them'),
  contextLength: z
    .int()
    .min(2)
    .optional()
    .describe('With --model: longest prompt and answer; default: the model’s, at most 4096'),
  threads: z.int().min(1).default(2).describe('With --model: threads of the engine'),
  step: z.int().min(0).optional().describe('Which checkpoint; default: the last'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
});

export const gatewayCommand: Command<typeof options> = defineCommand({
  name: 'gateway',
  summary: 'Serve a model over HTTP, and record an agent’s calls',
  arguments: [
    { name: 'run', description: 'Name of a run of an agent; or --model or --policy', required: false },
  ],
  options,
  examples: [
    'turnwise gateway company-facts-rloo-1 --record sessions.jsonl',
    'turnwise gateway --model ./SmolLM2-135M-Instruct.Q8_0.gguf',
    'turnwise gateway --model ./Qwen3-0.6B --set context=summary --set context.threshold=2048',
    'turnwise gateway --policy vllm:http://localhost:8000/v1#qwen3-8b --port 8181',
  ],
  async run({ arguments: { run }, options: given, console, interrupts }) {
    const { record, host, allowHost, port, sessionCalls, leaseMs, drainMs } = given;
    const meter = meterOf(given);
    if (given.policy === undefined) requireNoLimits(given);
    const {
      model,
      seats = [],
      context,
      environment,
      tokenizer,
      close,
    } = await open(run, given, meter, interrupts.signal);
    if (record !== undefined) endLine(record);
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
        seats,
        context,
        maxCalls: sessionCalls,
      }),
      onEnd: (ended) => {
        if (record === undefined || keys === undefined) return;
        const key = keys.next(ended.task);
        const about = { key, version: model.version, seats: seatsOf([model, ...seats]), stop: stopOf(ended) };
        const episode = episodeOf(ended, about);
        const rows = rowsOfEpisode(episode, episode, {
          kind: 'gateway',
          ...(run !== undefined && { run }),
          ...(tokenizer !== undefined && { tokenizer }),
        });
        appendRows(record, ended.reward === undefined ? rows.map(withoutReward) : rows);
      },
    }).start();
    const stop = new AbortController();
    interrupts.soften(() => stop.abort(), drainMs);
    try {
      console.write(`Listening at ${gateway.address}\n  key   ${gateway.key}\n`);
      console.write(
        `  try   curl -X POST ${gateway.address}/sessions -H 'authorization: Bearer ${gateway.key}'\n`,
      );
      meter.limited.addEventListener('abort', () =>
        console.writeError(`${(meter.limited.reason as Error).message}\n`),
      );
      if (given.model !== undefined && record === undefined)
        console.write(openAiClient(gateway, model, context));
      const told = AbortSignal.any([stop.signal, interrupts.signal]);
      await new Promise<void>((resolve) => {
        // It may have been told while the model was read.
        if (told.aborted) resolve();
        told.addEventListener('abort', () => resolve(), { once: true });
      });
      const { running } = gateway.state;
      if (running > 0) console.writeError(`Finishing ${running} calls. Ctrl-C again drops them.\n`);
    } finally {
      await gateway.stop(drainMs, interrupts.signal);
      await close();
      if (meter.spent.calls > 0) console.writeError(`${spentText(meter.spent)}.\n`);
    }
  },
});

/** A session that is open as long as the gateway is, so that any client of the API can be pointed at it. */
function openAiClient(gateway: Gateway, model: ChatModel, context: Context): string {
  const session = gateway.open({
    name: 'gateway/open',
    seed: Rng.of('gateway', process.pid, Date.now()).uint32(),
    model,
    context,
    maxCalls: Number.POSITIVE_INFINITY,
  });
  return [
    'For OpenAI clients that open no session:',
    `  OPENAI_BASE_URL=${gateway.baseURL(session)}`,
    `  OPENAI_API_KEY=${session.key}`,
    `  model  ${model.name}\n`,
  ].join('\n');
}

/** Sessions with a model that knows no environment may be of any. */
const ANY = 'gateway';

interface Served {
  readonly model: ChatModel;
  /** Of the other roles of the agent. */
  readonly seats?: readonly ChatModel[];
  /** What it reads of conversations: as `--set` says, else as the run was trained, else everything. */
  readonly context: Context;
  /** What episodes that are kept are said to be of. */
  readonly environment: string;
  readonly tokenizer?: string;
  close(): Promise<void>;
}

async function open(
  run: string | undefined,
  given: z.output<typeof options>,
  meter: SpendMeter,
  signal: AbortSignal,
): Promise<Served> {
  const { policy, model } = given;
  const named = [run, model && `--model ${model}`, policy && `--policy ${policy}`].filter(Boolean);
  if (named.length > 1) throw nothingToServe(named.join(' and '));
  if (policy === undefined && model === undefined) return trained(run, given, signal);
  // Whatever is wrong with it is told before a model is read.
  const context = await readContext(given.set, 'turnwise gateway');
  const opened = policy === undefined ? await served(model!, given, signal) : elsewhere(policy, meter);
  return { ...opened, context };
}

async function served(
  name: string,
  { runs, step, contextLength, threads }: z.output<typeof options>,
  signal: AbortSignal,
): Promise<Omit<Served, 'context'>> {
  const { close, tokenizer, ...talks } = await openChatEngine({
    model: name,
    runs,
    threads,
    signal,
    ...(step !== undefined && { step }),
    ...(contextLength !== undefined && { contextLength }),
  });
  return { model: policyModel(talks), environment: ANY, tokenizer, close };
}

function elsewhere(policy: string, meter: SpendMeter): Omit<Served, 'context'> {
  const upstream = parseUpstream(policy, POLICY_NAME, process.env.OPENAI_API_KEY);
  return { model: meter.metered(upstreamModel(upstream)), environment: ANY, close: async () => {} };
}

async function trained(
  run: string | undefined,
  { runs, step, set }: Pick<z.output<typeof options>, 'runs' | 'step' | 'set'>,
  signal: AbortSignal,
): Promise<Served> {
  if (run === undefined) throw nothingToServe('neither a run nor --model nor --policy');
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
  const context = await contextOfRun(learner, set);
  const renderer = await conversationRendererOf(learner.card, learner.config);
  // Nobody is waited for: each call is sampled when it comes.
  const playerOf = promptPlayers({ ...learner, renderer }, continuous);
  const { contextLength, schemas: constrains } = learner.engine.capabilities;
  const seated = isSeated(learner.world.agent);
  const [model, ...seats] = learner.world.roles.map((role): ChatModel => {
    const { name: player, policy } = playerOf(role);
    const common = { policy, renderer, contextLength, constrains };
    return policyModel({ ...common, ...(seated && { seat: { role, player } }) });
  }) as [ChatModel, ...ChatModel[]];
  return {
    model,
    seats,
    context,
    environment: learner.world.name,
    tokenizer: tokenizerOfCard(learner.card),
    close: () => learner.close(),
  };
}

/** A model of this machine costs nothing, and a limit that limits nothing would be believed. */
function requireNoLimits({ maxCalls, maxTokens, price }: z.output<typeof options>): void {
  const given = Object.entries({ '--max-calls': maxCalls, '--max-tokens': maxTokens, '--price': price });
  const [name, value] = given.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw new TurnwiseError('option-value', {
    what: `${name} limits models elsewhere, and none is served`,
    seen: `${name} ${value}`,
    next: 'Add --policy, or limit sessions with --session-calls',
  });
}

/** As the policy learned to read, unless the command says otherwise. */
async function contextOfRun(learner: OpenedCheckpoint, set: readonly string[]): Promise<Context> {
  if (set.length === 0) return learner.context;
  try {
    return await readContext(set, 'turnwise gateway', learner.config.context);
  } catch (error) {
    await learner.close();
    throw error;
  }
}

function nothingToServe(seen: string): TurnwiseError {
  return new TurnwiseError('policy-missing', {
    what: 'The gateway needs a model that talks',
    seen,
    allowed: 'one of: a run that trained an agent, --model, --policy openai:URL or --policy vllm:URL',
    next: 'List runs with: turnwise runs',
  });
}

/** A session that was closed has ended; one whose lease ran out may have been given up in the middle. */
function stopOf({ status }: SessionRecord): StopReason {
  return status === 'expired' ? 'timeout' : 'done';
}

/** Nobody said what it was worth: it may be imitated, and is not compared. */
function withoutReward({ reward: _, success: __, ...row }: ConversationRow): ConversationRow {
  return row;
}
