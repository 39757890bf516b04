/** An agent on the official `openai` client, trained from a checkpoint folder through the model's own chat template. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { exportCommand } from '../src/cli/commands/export.ts';
import { playCommand } from '../src/cli/commands/play.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { loadPretrainedLanguage } from '../src/model/tokenizer/pretrained-language.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const parity = new URL('hf-parity/', import.meta.url).pathname;
const agent = new URL('../examples/agents/openai-client.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-pretrained-agent-'));
const model = join(folder, 'model');
beforeAll(() => {
  cpSync(join(parity, 'qwen3', 'bf16'), model, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
    cpSync(join(parity, 'tokenizer-qwen', file), join(model, file));
  }
  // Prompts that describe three tools are longer than the 512 tokens that it was made for.
  const config = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8')) as object;
  writeFileSync(join(model, 'config.json'), JSON.stringify({ ...config, max_position_embeddings: 2048 }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function turnwise(...line: string[]): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const code = await runCommandLine([...line, '--runs', join(folder, 'runs')], {
    commands: [trainCommand, evalCommand, exportCommand, playCommand],
    version: '0.1.0',
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors() };
}

const settings = (more: Readonly<Record<string, number>> = {}): string[] =>
  Object.entries({
    steps: 2,
    threads: 1,
    'chat.maxTurnTokens': 6,
    'chat.contextLength': 2048,
    'lora.rank': 4,
    'rollout.tasks': 2,
    'rollout.group': 2,
    // Random weights never answer right: without this no step would change a weight.
    'objective.entropyCoefficient': 0.01,
    'evaluation.every': 0,
    'evaluation.finalTasks': 2,
    ...more,
  }).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

test('trained and measured through its chat template, tools described', { timeout: 60_000 }, async () => {
  const trained = await turnwise('train', agent, '--model', model, '--name', 'taught', ...settings());
  expect(trained).toMatchObject({ code: 0, errors: '' });
  expect(trained.output).toMatch(/16 episodes|8 episodes/);
  const [group] = readEpisodeFile(join(folder, 'runs', 'taught', 'rollouts', '1.jsonl.gz'))!.groups;
  const { calls } = group!.members[0]!;
  // Two conversations at once, each a sample of its own.
  expect(calls).toHaveLength(2);
  expect(
    calls.every(({ trainable, parent, ids }) => trainable === true && parent === undefined && ids.length > 0),
  ).toBe(true);
  const { tokenizer } = await loadPretrainedLanguage(model, 300);
  const prompt = tokenizer.decode([...calls[0]!.context]);
  expect(prompt).toContain('{"type": "function", "function": {"name": "manager"');
  expect(prompt.endsWith('<|im_end|>\n<|im_start|>assistant\n')).toBe(true);
  const measured = await turnwise('eval', agent, '--tasks', '2');
  expect(measured).toMatchObject({ code: 0, errors: '' });
  expect(measured.output).toMatch(/sampled +0\.\d+ \(/);

  // The agent's server must end with these commands, or their process never does.
  const servers = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length;
  expect(await turnwise('export', 'taught', '--to', join(folder, 'adapter'))).toMatchObject({ code: 0 });
  expect((await turnwise('play', 'frozen-lake', '--run', 'taught')).errors).toContain(
    'run-other-environment',
  );
  expect(servers()).toBe(0);
});

test('a teacher is not imitated by a pretrained model', async () => {
  const { errors } = await turnwise('train', agent, '--model', model, ...settings({ 'clone.steps': 3 }));
  expect(errors.replaceAll('\n', ' ')).toMatchInlineSnapshot(
    `"error: A pretrained model does not imitate an agent’s teacher: teachers write in the form of small models. Seen: clone.steps 3. Allowed: 0 where --model is given for an agent. Add --set clone.steps=0. (config-invalid) "`,
  );
});
