import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Children, problemOf } from '../../compare/child-run.ts';
import type { StoredEvent } from '../../train/loop/events.ts';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { compareWith } from './compare.ts';
import { resumeCommand } from './resume.ts';
import { trainCommand } from './train.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-compare-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Pair {
  readonly metric: string;
  readonly adjusted: number;
  readonly comparison: { readonly p: number; readonly ties: number };
}

/** Runs the commands in this process, and remembers them; `fails` are ended before they begin. */
function inProcess(ran: string[], fails: readonly string[] = []): () => Children {
  return () => ({
    async run(wordsNow, onEvent) {
      const words = wordsNow();
      const name = words[0] === 'resume' ? words[1]! : words[words.indexOf('--name') + 1]!;
      const short = name.replace(/^frozen-lake-(.*)-[0-9a-f]{10}$/, '$1');
      ran.push(`${words[0]} ${short}`);
      if (fails.includes(short)) return { code: 'disk-full', message: 'The disk is full.' };
      const console = {
        ...memoryConsole(),
        write: (text: string) => onEvent(JSON.parse(text) as StoredEvent),
      };
      const commands = [trainCommand, resumeCommand];
      const surroundings = { commands, version: '0.1.0', console, interrupts: noInterrupts };
      const code = await runCommandLine([...words, '--json'], surroundings);
      return code === 0 ? undefined : problemOf(console.errors(), code, null);
    },
    stop: () => undefined,
    kill: () => undefined,
  });
}

const tiny = [
  'model.width=16',
  'model.layers=1',
  'model.heads=2',
  'model.hidden=16',
  'clone.demonstrations=30',
  'clone.steps=4',
  'clone.batch=8',
  'rollout.tasks=4',
  'rollout.group=4',
  'evaluation.tasks=6',
  'evaluation.finalTasks=8',
].flatMap((assignment) => ['--set', assignment]);

async function compare(children: () => Children, ...more: string[]) {
  const console = memoryConsole();
  const line = ['compare', '--env', 'frozen-lake', '--recipes', 'rloo,ppo', '--seeds', '2'];
  const code = await runCommandLine([...line, '--budget', 'steps=2', '--runs', root, ...tiny, ...more], {
    commands: [compareWith(children)],
    version: '0.1.0',
    console,
    interrupts: noInterrupts,
  });
  const errors = console.errors().replaceAll(/\s+/g, ' ').replaceAll(root, 'FOLDER');
  return { code, output: console.output(), errors };
}

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

test('an arm against itself is the same run; where chance of its own samples from the policy, no difference is decided', {
  timeout: 240_000,
}, async () => {
  const ran: string[] = [];
  const imitates = [
    '--set',
    'clone.steps=40',
    '--set',
    'evaluation.tasks=10',
    '--set',
    'evaluation.finalTasks=20',
  ];
  const runs = [
    '--runs',
    mkdtempSync(join(root, 'control-')),
    '--recipes',
    'rloo',
    '--seeds',
    '10',
    ...imitates,
  ];
  const twin = async (arm: string, name: string) => {
    const line = [...runs, '--json', '--jobs', '1', '--name', name, '--arm', arm];
    const { code, output } = await compare(inProcess(ran), ...line);
    expect(code).toBe(0);
    const { pairs } = JSON.parse(output.trim().split('\n').at(-1)!) as { readonly pairs: readonly Pair[] };
    expect(pairs.map(({ metric }) => metric)).toContain('final');
    return pairs;
  };
  for (const { comparison, metric } of await twin('twin=rloo', 'same')) {
    expect([metric, comparison.ties, comparison.p]).toEqual([metric, 10, 1]);
  }
  // Ten warm starts, and one run a seed for both arms.
  expect(ran).toHaveLength(20);

  const pairs = await twin('twin=rloo,rollout.policyKey=other', 'other');
  expect(ran).toHaveLength(30);
  const area = pairs.find(({ metric }) => metric === 'area')!.comparison;
  expect(area.ties).toBeLessThan(10);
  for (const { adjusted } of pairs) expect(adjusted).toBeGreaterThan(0.05);
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
