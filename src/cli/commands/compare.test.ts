import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Children } from '../../compare/child-run.ts';
import { compareTiny, inProcess } from './compare.test-helper.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-compare-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const compare = (children: () => Children, ...more: string[]) => compareTiny(children, root, ...more);

test('a sweep runs, continues where it failed, repeats nothing, and refuses to become another', {
  timeout: 60_000,
}, async () => {
  const ran: string[] = [];
  const first = await compare(inProcess(ran, ['ppo-2']), '--json', '--jobs', '1');
  expect(first.code).toBe(1);
  expect(first.errors).toContain('comparison-incomplete');
  expect(ran).toEqual(
    ['start-1', 'rloo-1', 'ppo-1', 'start-2', 'rloo-2', 'ppo-2'].map((run) => `train ${run}`),
  );
  const events = first.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; name: string; state?: string });
  expect(
    events.filter(({ name }) => name?.startsWith('frozen-lake-ppo-2-')).map(({ state }) => state),
  ).toEqual(['running', 'failed']);
  const { worlds } = events.at(-1) as unknown as {
    readonly worlds: readonly {
      readonly arms: readonly {
        readonly arm: string;
        readonly seeds: readonly { readonly figures?: object }[];
      }[];
    }[];
  };
  expect(
    worlds[0]!.arms.map(({ arm, seeds }) => [arm, seeds.filter(({ figures }) => figures).length]),
  ).toEqual([
    ['rloo', 2],
    ['ppo', 1],
  ]);

  ran.length = 0;
  const second = await compare(inProcess(ran));
  expect(ran).toEqual(['train ppo-2']);
  expect(second).toMatchObject({ code: 0, errors: '' });
  expect(second.output.replaceAll(/\s+/g, ' ')).toContain('With 2 seeds no difference is certain');
  expect(readFileSync(join(root, 'frozen-lake-rloo-vs-ppo', 'report.html'), 'utf8')).toContain(
    'rloo, ppo in',
  );

  ran.length = 0;
  expect((await compare(inProcess(ran))).code).toBe(0);
  expect(ran).toEqual([]);

  // Another comparison takes what is there, and says before what it would run.
  const three = ['--recipes', 'grpo,ppo', '--name', 'three'];
  const planned = await compare(inProcess(ran), ...three, '--plan');
  expect(planned.output).toContain('6 runs, 4 cached, 2 to run');
  expect(ran).toEqual([]);
  expect((await compare(inProcess(ran), ...three)).code).toBe(0);
  expect(ran.sort()).toEqual(['train grpo-1', 'train grpo-2']);
  ran.length = 0;

  const other = await compare(inProcess(ran), '--set', 'rollout.temperature=0.8');
  expect(other.code).toBe(2);
  expect(other.errors).toMatchInlineSnapshot(
    `"error: The comparison "frozen-lake-rloo-vs-ppo" was started with other settings: worlds.frozen-lake.arms.rloo.config.rollout.temperature. Seen: 0.8. Allowed: 1. Give this one another --name, or delete the folder of the other. (comparison-differs) "`,
  );
  expect(ran).toEqual([]);
});

test('runs of a seed whose warm start failed fail with it, and the others go on', {
  timeout: 60_000,
}, async () => {
  const ran: string[] = [];
  const runs = ['--runs', mkdtempSync(join(root, 'broken-'))];
  const { code, output, errors } = await compare(inProcess(ran, ['start-1']), ...runs, '--jobs', '1');
  expect(code).toBe(1);
  expect(errors).toMatch(/To try the others again: turnwise compare .* --jobs 1\b/);
  expect(ran).toEqual(['train start-1', 'train start-2', 'train rloo-2', 'train ppo-2']);
  expect(output.replaceAll(/\s+/g, ' ')).toContain(
    'rloo, seed 1: Its warm start failed: The disk is full. (disk-full)',
  );
});

test('what cannot be compared is refused before anything is written', async () => {
  const ran: string[] = [];
  const wrong = async (...words: string[]) =>
    (await compare(inProcess(ran), '--name', 'never', ...words)).errors;
  expect(await wrong('--recipes', 'rloo,rloo')).toContain('Seen: rloo twice');
  expect(await wrong('--recipes', 'rlo')).toContain('Did you mean "rloo"?');
  expect(await wrong('--recipes', 'rloo,self-play')).toContain('The nearest that can is "rloo"');
  expect(await wrong('--env', 'frozen-lak')).toContain('Did you mean "frozen-lake"?');
  expect(await wrong('--budget', 'hours=1')).toContain('steps=20, episodes=5k or minutes=1.5');
  expect(ran).toEqual([]);
  expect(existsSync(join(root, 'never'))).toBe(false);
});
