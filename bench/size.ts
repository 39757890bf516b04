/**
 * What conversations take in memory: episodes of 32,000 tokens, half of them sampled, all under way at once, and then as records.
 * Everything counts: ids, log-probabilities, text, messages, transitions, contexts, and the tokens that an engine holds of each
 * conversation. Fails where a token takes more than its goal.
 * A case runs in a process of its own, since what one left behind would hide what the next one takes.
 */

import { execFileSync } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { rawProtocol } from '../src/env/raw-protocol.ts';
import type { World } from '../src/env/world.ts';
import { isCompletion, type Renderer } from '../src/model/chat/renderer.ts';
import { Conversations } from '../src/policy/conversations.ts';
import { Lockstep } from '../src/policy/lockstep.ts';
import type { Policy } from '../src/policy/policy.ts';
import { collectGroups } from '../src/rollout/collect.ts';
import { fullContext } from '../src/rollout/context/contexts.ts';
import { unwatched } from '../src/rollout/watch.ts';

/** After a collection: resident memory, and the parts of it that JavaScript objects and typed arrays take. */
interface Weight {
  readonly resident: number;
  readonly objects: number;
  readonly arrays: number;
}

export interface SizeFigure {
  readonly conversations: number;
  readonly tokens: number;
  /** Of a turn, half of them sampled. */
  readonly turnTokens: number;
  /** Megabytes that a process keeps for garbage once it has played, however many conversations there are. Not counted below. */
  readonly roomMB: number;
  /** Bytes a token: before the last turn of all of them, and of their records. */
  readonly underWay: Weight;
  readonly recorded: Weight;
  /** Of resident memory. */
  readonly goal: number;
}

const TOKENS = 32_000;
const CASES = {
  long: { conversations: 512, turnTokens: 500, goal: 16 },
  // Of 6,400 turns each, which take a minute to play.
  short: { conversations: 64, turnTokens: 5, goal: 60 },
};
type Name = keyof typeof CASES;

/** Conversations, one after another, that a process has played before: so many, and turns of each. */
const PLAYED = 64;

/** Four letters stand for a token, as in English text. */
const LETTERS = 4;
let written = 0;
const letters = Buffer.alloc(TOKENS * LETTERS);
const textOf = (tokens: number): string => {
  written++;
  // Made of a buffer, so that it is one text and not a chain of its parts.
  const length = tokens * LETTERS;
  letters.fill(written.toString(36).padStart(12, 'a'), 0, length);
  return letters.toString('latin1', 0, length);
};
const idsOf = (tokens: number): Int32Array =>
  Int32Array.from({ length: tokens }, (_, at) => (at * 31 + written) % 50_000);

const renderer: Renderer = {
  stopIds: [],
  maxTurnTokens: TOKENS,
  pieces: (said) => said,
  more: (_completion, fresh) => fresh,
  ids: (piece) => {
    if (typeof piece === 'string') return [];
    if (isCompletion(piece)) return piece.ids;
    return 'of' in piece ? [] : idsOf(piece.content.length / LETTERS);
  },
  completionIds: () => [],
  text: () => '',
  answer: (text) => text,
  read: (content) => ({ content, toolCalls: [] }),
};

/** Shows so many new tokens after every action. */
function showing(tokens: number, turns: number): World {
  return {
    name: 'size',
    description: '',
    roles: ['agent'],
    protocol: rawProtocol,
    maxTurns: turns,
    pure: true,
    tasks: () => ({ size: 1, at: () => null }),
    open: async () => {
      let left = turns;
      let shown = [{ role: 'user', content: textOf(tokens) } as const];
      return {
        roles: ['agent'],
        toMove: () => (left > 0 ? 'agent' : undefined),
        observe: () => shown,
        anchor: () => '',
        step: async () => {
          left--;
          shown = [{ role: 'user', content: left > 0 ? textOf(tokens) : '' }];
          return { rewards: { agent: 0 }, done: left === 0, success: { agent: true }, valid: true };
        },
        close: async () => {},
      };
    },
  };
}

const collect = (): void => {
  setFlagsFromString('--expose-gc');
  // What is left is to lie together, or pages with a single object would count whole.
  setFlagsFromString('--compact-on-every-full-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let round = 0; round < 4; round++) gc();
};

async function weighed(): Promise<Weight> {
  collect();
  // Pages are given back a little later.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { rss: resident, heapUsed: objects, arrayBuffers: arrays } = process.memoryUsage();
  return { resident, objects, arrays };
}

/** Bytes a token. */
const growth = (before: Weight, after: Weight, tokens: number): Weight => ({
  resident: (after.resident - before.resident) / tokens,
  objects: (after.objects - before.objects) / tokens,
  arrays: (after.arrays - before.arrays) / tokens,
});

/** One case, in this process. */
export async function measureSize(name: Name): Promise<SizeFigure> {
  const { conversations, turnTokens, goal } = CASES[name];
  const turns = TOKENS / turnTokens;
  const shown = Math.floor(turnTokens / 2);
  const sampled = turnTokens - shown;
  /** How many wait before their last turn, once all are to be weighed. */
  let waiting: number | undefined;
  const nothing: Weight = { resident: 0, objects: 0, arrays: 0 };
  let underWay = nothing;
  let release: () => void = () => {};
  const all = new Promise<void>((resolve) => {
    release = resolve;
  });
  const author = { kind: 'policy', name: 'size', version: 0 } as const;
  const asked = new Map<string, number>();
  const held = new Conversations();
  const policy: Policy = {
    author,
    complete: async ({ conversation, keep, append, sampling, seedKey }) => {
      const request = { conversation, keep, append, sampling, stopIds: [], seed: seedKey };
      held.open(request, Number.POSITIVE_INFINITY);
      const turn = (asked.get(conversation) ?? 0) + 1;
      asked.set(conversation, turn);
      if (turn === turns && waiting !== undefined) {
        if (++waiting === conversations) {
          underWay = await weighed();
          release();
        }
        await all;
      }
      const ids = idsOf(sampled);
      held.add(conversation, ids);
      return {
        ids,
        logprobs: new Float32Array(sampled).fill(-1),
        text: textOf(sampled),
        finish: 'stop',
        by: author,
        trainable: true,
      };
    },
    release: (conversation) => held.release(conversation),
  };
  const play = (members: number, most = turns) =>
    collectGroups([{ step: 1, group: 0, split: 'train', index: 0, task: null, members }], {
      world: showing(shown, most),
      policy,
      renderer,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: turns,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: 3_600_000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      batching: new Lockstep(),
      concurrency: members,
    });
  const idle = await weighed();
  for (let one = 0; one < PLAYED; one++) await play(1, Math.min(turns, PLAYED));
  asked.clear();
  const before = await weighed();
  waiting = 0;
  const groups = await play(conversations);
  asked.clear();
  const after = await weighed();
  const calls = groups.flatMap(({ members }) => members.flatMap((member) => member.calls));
  const tokens = calls.reduce((sum, { context, ids }) => sum + context.length + ids.length, 0);
  if (tokens !== conversations * TOKENS) throw new Error(`${tokens} tokens were recorded`);
  return {
    conversations,
    tokens,
    turnTokens,
    roomMB: (before.resident - idle.resident) / 1e6,
    underWay: growth(before, underWay, tokens),
    recorded: growth(before, after, tokens),
    goal,
  };
}

/** Every case; `turnwise` keeps its goals where none is over. */
export function benchSize(names: readonly string[]): Record<string, SizeFigure> {
  const [name] = names;
  const cases = (name === undefined ? Object.keys(CASES) : [name]) as readonly Name[];
  const module = new URL('./size.js', import.meta.url).href;
  const figures = cases.map((one): [string, SizeFigure] => {
    const program = `import { measureSize } from ${JSON.stringify(module)}; console.log(JSON.stringify(await measureSize(${JSON.stringify(one)})));`;
    const flags = ['--max-old-space-size=12000', '--input-type=module', '-e', program];
    const said = execFileSync(process.execPath, flags, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return [one, JSON.parse(said) as SizeFigure];
  });
  for (const [one, { underWay, recorded, goal }] of figures) {
    if (Math.max(underWay.resident, recorded.resident) <= goal) continue;
    process.exitCode = 1;
    process.stderr.write(`${one}: more than ${goal} bytes a token\n`);
  }
  return Object.fromEntries(figures);
}
