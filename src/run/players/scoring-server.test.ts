/** Servers as teachers: what they tell of a prompt is read by ids, and whoever tells too little is refused. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { scoredRows } from '../../engine/token-batch.ts';
import { loadPretrainedTokenizer } from '../../model/tokenizer/pretrained-tokenizer.ts';
import { SpendMeter } from '../../server/gateway/spend.ts';
import type { PretrainedCard } from '../../train/model-card.ts';
import { openTeacher } from './open-teacher.ts';

const parity = new URL('../../../tests/hf-parity/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-scoring-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
cpSync(join(parity, 'qwen3', 'bf16'), folder, { recursive: true });
for (const file of ['tokenizer.json', 'tokenizer_config.json'])
  cpSync(join(parity, 'tokenizer-qwen', file), join(folder, file));
const { tokenizer } = await loadPretrainedTokenizer(folder, 100_000);
const card: PretrainedCard = {
  shape: { vocabulary: 100_000, contextLength: 64 },
  base: { reference: folder, folder, digest: '' },
  system: '',
};
const ids = tokenizer.encode('the quick brown fox');

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

interface Asked {
  readonly prompt: readonly number[];
  readonly [name: string]: unknown;
}

async function serve(answer: (asked: Asked) => unknown): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    asked.push({ ...(JSON.parse(text) as Asked), path: request.url });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [answer(asked.at(-1)!)] }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  open.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const spend = new SpendMeter();
const teacherAt = (teacher: string) =>
  openTeacher({ teacher, root: folder, card, threads: 1, spend, signal: new AbortController().signal });
const rows = scoredRows([{ ids_T: Int32Array.from(ids) }]);
const textOf = (id: number): string => tokenizer.decode([id]);

/** As vLLM answers `prompt_logprobs: 2`: the token itself, and the likeliest. */
const byIds = ({ prompt }: Asked) => ({
  prompt_logprobs: prompt.map((id, token) =>
    token === 0
      ? null
      : {
          [id]: { logprob: -token, rank: 3, decoded_token: textOf(id) },
          [id + 1]: { logprob: -0.1, rank: 1, decoded_token: 'x' },
          [id + 2]: { logprob: -0.2, rank: 2, decoded_token: 'y' },
        },
  ),
});
/** As `echo` with `logprobs` answers. */
const echoed = ({ prompt }: Asked) => ({
  logprobs: {
    tokens: prompt.map(textOf),
    token_logprobs: prompt.map((_, token) => (token === 0 ? null : -token)),
  },
});

test('prompt_logprobs are read by id, with the likeliest tokens', async () => {
  const { url, asked } = await serve(byIds);
  const teacher = await teacherAt(`vllm:${url}#large`);
  const { logprobs, top } = await teacher.score(rows, { temperature: 1, top: 2 });
  expect([...logprobs[0]!]).toEqual(ids.map((_, token) => (token === 0 ? 0 : -token)));
  expect([...top![0]!.ids.subarray(2, 4)]).toEqual([ids[1]! + 1, ids[1]! + 2]);
  expect(top![0]!.logprobs[2]).toBeCloseTo(-0.1, 6);
  expect(asked[0]).toMatchObject({
    path: '/v1/completions',
    model: 'large',
    prompt: ids,
    prompt_logprobs: 2,
  });
  expect(spend.spent.promptTokens).toBe(ids.length);
});

test('an echo is read token by token', async () => {
  const { url, asked } = await serve(echoed);
  const teacher = await teacherAt(`openai:${url}`);
  const { logprobs } = await teacher.score(rows, { temperature: 1 });
  expect([...logprobs[0]!]).toEqual(ids.map((_, token) => (token === 0 ? 0 : -token)));
  expect(asked[0]).toMatchObject({ prompt: ids, echo: true, max_tokens: 0, logprobs: 1 });
  await expect(teacher.score(rows, { temperature: 1, top: 2 })).rejects.toMatchObject({
    code: 'teacher-unfit',
  });
  await expect(teacher.score(rows, { temperature: 0.5 })).rejects.toThrow('temperature 0.5');
  const allowed_B = [ids.map(() => null)];
  await expect(teacher.score({ ...rows, allowed_B }, { temperature: 1 })).rejects.toThrow('rollout.choices');
});

test.each<[string, 'openai' | 'vllm', (asked: Asked) => unknown]>([
  ['only a completion', 'openai', () => ({ text: 'hello' })],
  ['only a completion', 'vllm', () => ({ text: 'hello' })],
  [
    'another number of tokens',
    'openai',
    (asked) => {
      const { tokens, token_logprobs } = echoed(asked).logprobs;
      return { logprobs: { tokens: tokens.slice(1), token_logprobs: token_logprobs.slice(1) } };
    },
  ],
  [
    'no text of its tokens',
    'vllm',
    ({ prompt }) => ({
      prompt_logprobs: prompt.map((id, token) => (token ? { [id]: { logprob: -1 } } : null)),
    }),
  ],
])('a server that tells %s (%s) is refused', async (_, kind, answer) => {
  const { url } = await serve(answer);
  const teacher = await teacherAt(`${kind}:${url}`);
  await expect(teacher.score(rows, { temperature: 1 })).rejects.toMatchObject({
    code: 'teacher-unfit',
    message: expect.stringContaining('does not tell the log-probability of every token of a prompt'),
  });
});

test('a server to which the ids are other text has another tokenizer', async () => {
  const { url } = await serve(({ prompt }) => ({
    logprobs: {
      tokens: prompt.map((id) => textOf(id + 7)),
      token_logprobs: prompt.map((_, token) => (token ? -1 : null)),
    },
  }));
  const teacher = await teacherAt(`openai:${url}`);
  await expect(teacher.score(rows, { temperature: 1 })).rejects.toMatchObject({
    code: 'teacher-unfit',
    message: expect.stringContaining(
      `another tokenizer than the policy: token ${ids[1]} is other text there`,
    ),
  });
});
