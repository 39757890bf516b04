/** TextArena and verifiers behind the server in Python, where there is a Python that has them. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Rng } from '../src/core/rng.ts';
import { connectTurnwise } from '../src/env/remote/turnwise.ts';
import type { Session } from '../src/env/session.ts';
import type { World } from '../src/env/world.ts';
import { runs, startPythonServer } from './python-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-python-packages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { signal } = new AbortController();

/** While the server runs. */
async function withWorld(line: readonly string[], use: (world: World, http: string) => Promise<void>) {
  const server = await startPythonServer(line, { folder });
  try {
    const factory = await connectTurnwise('python', server.http);
    await use(factory.create(factory.options.parse({})), server.http);
  } finally {
    await server.stop();
  }
}

const leftOut = (code: string): string => (runs(code) ? '' : ` (left out: no Python for "${code}")`);
const noTools = leftOut('import datasets; from verifiers import load_environment');
const noGames = leftOut('import textarena');

const TOOLS = `
import verifiers
from datasets import Dataset

async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)

async def right(completion, answer, **_):
    return 1.0 if answer in (completion[-1]["content"] or "") else 0.25

def load_environment(rows):
    data = Dataset.from_list([{"question": f"{n} + 2?", "answer": str(n + 2)} for n in range(rows)])
    return verifiers.ToolEnv(dataset=data, tools=[add], rubric=verifiers.Rubric(funcs=[right]), max_turns=4)
`;

const FAILING = `
import verifiers
from datasets import Dataset

class Failing(verifiers.MultiTurnEnv):
    async def env_response(self, messages, state, **kwargs):
        raise OSError("the disk is full")

def load_environment():
    data = Dataset.from_list([{"question": "?", "answer": ""}] * 3)
    return Failing(dataset=data, rubric=verifiers.Rubric(funcs=[]), max_turns=4)
`;

describe.skipIf(noTools !== '')(`verifiers${noTools}`, { timeout: 60_000 }, () => {
  test('an environment lends its tools and pays at the end', async () => {
    writeFileSync(join(folder, 'adder_env.py'), TOOLS);
    await withWorld(['verifiers', 'adder-env', '--set', 'rows=20'], async (world) => {
      const sizes = (['train', 'validation', 'test'] as const).map((split) => world.tasks(split).size);
      expect(sizes).toEqual([16, 2, 2]);
      expect(world.protocol.tools).toMatchObject([{ function: { name: 'add' } }]);
      const open = async () => world.open(world.tasks('test').at(1), Rng.of('adder', 1));
      const called = '<tool_call>{"name": "add", "arguments": {"a": 10, "b": 2}}</tool_call>';
      const [call, answer] = [called, 'It is 12.'].map((text) => world.protocol.parse(text));
      if (!call?.ok || !answer?.ok) throw new Error('no action');
      const [session, wrong] = [await open(), await open()];
      expect(session.observe('agent')).toEqual([{ role: 'user', content: '10 + 2?' }]);
      expect(await session.step(call.action, signal)).toMatchObject({ done: false, rewards: {} });
      expect(session.observe('agent')).toEqual([{ role: 'tool', content: '12' }]);
      const end = await session.step(answer.action, signal);
      expect(end).toMatchObject({ done: true, rewards: { agent: 1 }, success: { agent: true } });
      expect(end.metrics).toMatchObject({ total_tool_calls: 1 });
      expect(await wrong.step(JSON.stringify({ answer: 'no' }), signal)).toMatchObject({
        done: true,
        rewards: { agent: 0.25 },
        success: { agent: false },
      });
      await Promise.all([session.close(), wrong.close()]);
    });
  });

  test('an environment that fails is a failed step', async () => {
    writeFileSync(join(folder, 'failing_env.py'), FAILING);
    await withWorld(['verifiers', 'failing-env'], async (world, http) => {
      const session = await world.open(world.tasks('train').at(0), Rng.of('failing', 1));
      await expect(session.step('hello', signal)).rejects.toThrow('the disk is full');
      await session.close();
      expect((await fetch(`${http}/health`)).ok).toBe(true);
    });
  });
});

describe.skipIf(noGames !== '')(`TextArena${noGames}`, { timeout: 60_000 }, () => {
  test('games that share the generator of Python have a chance each', async () => {
    await withWorld(['textarena', 'PigDice-v0', '--players', '2'], async (world) => {
      expect(world.roles).toEqual(['player-0', 'player-1']);
      const open = async (seed: number) => world.open(world.tasks('train').at(0), Rng.of('dice', seed));
      const roll = async (session: Session): Promise<string> => {
        await session.step('[roll]', signal);
        return JSON.stringify(session.roles.map((role) => session.observe(role)));
      };
      const alone = await open(1);
      const expected = [await roll(alone), await roll(alone), await roll(alone)];
      const [left, right] = [await open(1), await open(1)];
      const seen: [string[], string[]] = [[], []];
      for (let turn = 0; turn < 3; turn++) {
        seen[0].push(await roll(left));
        seen[1].push(await roll(right));
      }
      expect(seen).toEqual([expected, expected]);
      const other = await open(2);
      expect([await roll(other), await roll(other), await roll(other)]).not.toEqual(expected);
    });
  });
});
