import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recipes } from '../../train/recipes/recipes.ts';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { recipesCommand } from './recipes.ts';

async function turnwise(...line: string[]): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const surroundings = { commands: [recipesCommand], version: '0.1.0', console, interrupts: noInterrupts };
  const code = await runCommandLine(line, surroundings);
  return { code, output: console.output(), errors: console.errors().replaceAll(/\s+/g, ' ') };
}

test('lists all, within 80 columns, and which of them cannot be used somewhere', async () => {
  const { output } = await turnwise('recipes', '--env', 'frozen-lake');
  for (const { name } of recipes) expect(output).toContain(name);
  for (const line of output.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(output).toContain('not here: it needs an environment with several roles');
  expect((await turnwise('recipes')).output).not.toContain('not here');
});

test.each(recipes.map(({ name }) => name))('shows %s with every part, within 80 columns', async (name) => {
  const { output } = await turnwise('recipes', name);
  for (const line of output.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  for (const word of ['source', 'Formula', 'rollout', 'credit', 'objective', 'schedule', 'It needs']) {
    expect(output).toContain(word);
  }
});

test('shows one', async () => {
  expect((await turnwise('recipes', 'ppo', '--env', 'maze')).output).toMatchInlineSnapshot(`
    "ppo
    token-level GAE with a value head, skipping observation tokens; clipped policy
    gradient and value loss

      source       PPO, arXiv 1707.06347; GAE, arXiv 1506.02438
      use it when  rewards come along the way and episodes are long, so that a value
                   head can tell which part was good

    Formula
      δ_t = r_t + γ·V_{t+1} − V_t, A_t = δ_t + γλ·A_{t+1}, over sampled tokens;
        observation tokens are skipped
      loss = Σ weight · max(−A·ρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh)), at most
        −A·dualClip where A < 0; ρ = π / π_old
      value loss = valueCoefficient · ½ Σ weight · (V − return)²

    Parts, in maze
      rollout      16 tasks × 8 episodes a step, temperature 1, all turns in context
      curation     failed episodes left out
      credit       gae, per token: token advantages from a value head, skipping
                   observations (gamma 0.99, lambda 0.95, lengthAlpha 0, decoupled
                   false, whiten true); rewards × 0.1
      objective    clip −0.2 to +0.28, dual clip 3; value loss 0.5, 3 steps for the
                   value head alone; token-mean
      schedule     learning rate 0.001, linear, 5 steps of warm-up; 2 optimizer
                   steps a batch, 1 epoch

    Authors’ defaults
      clip 0.2, value clip 0.2, lambda 0.95; common for language models: gamma 1,
      lambda 1, value clip 0.5

    It sets
      rollout.minimumMembers=1
      credit.method=gae
      credit.gamma=0.99
      credit.lambda=0.95
      credit.rewardScale=0.1
      objective.valueClip=0
      objective.valueWarmup=3

    It needs
      ✓ an engine that runs any loss, not only those it knows by name
      ✓ an engine with a value head
      ✓ a recipe that trains a critic (credit method "gae" reads its values)

    Next
      turnwise train maze --recipe ppo
      turnwise compare --env maze --recipes rloo,ppo
    "
  `);
});

test('as JSON, with the reason why it cannot be used', async () => {
  const { output } = await turnwise('recipes', 'self-play', '--env', 'maze', '--json');
  expect(JSON.parse(output)).toMatchObject({
    name: 'self-play',
    usable: false,
    missing: 'an environment with several roles',
    settings: { credit: { method: 'rae' } },
  });
  expect(
    JSON.parse((await turnwise('recipes', 'self-play', '--env', 'kuhn-poker', '--json')).output),
  ).toMatchObject({
    usable: true,
  });
});

test('names the nearest', async () => {
  const { code, errors } = await turnwise('recipes', 'gpro');
  expect(code).toBe(2);
  expect(errors).toContain('Did you mean "grpo"?');
});

test('prints the page of methods, to which the experiments add what was measured', {
  timeout: 180_000,
}, async () => {
  const { output } = await turnwise('recipes', '--markdown');
  const page = readFileSync(new URL('../../../docs/methods.md', import.meta.url), 'utf8');
  expect(output).not.toContain('Measured:');
  expect(page.replaceAll(/\n\n(Measured: .*|Claim \[.*|!\[.*\)(?=\n))/g, '')).toBe(output);
});
