/** Sources of prompts: worked numbers, and populations that improve what a scripted policy scores. */

import { describe, expect, test } from 'vitest';
import type { Group } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import { user } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { mean } from '../core/statistics.ts';
import { madeEpisode, madeKey, madeTransition } from '../core/testing/made-episodes.ts';
import { defineEnvironment } from '../env/environment.ts';
import { noIds } from '../model/chat/renderer.ts';
import { Lockstep } from '../policy/lockstep.ts';
import { collectGroups } from '../rollout/collect.ts';
import { fullContext } from '../rollout/context/contexts.ts';
import { unwatched } from '../rollout/watch.ts';
import { mockPolicy } from '../testing/mock-policy.ts';
import { factoryUnderTest } from '../testing/world-under-test.ts';
import { differs, experiences } from './experiences.ts';
import { instructionIn } from './instruction.ts';
import { operationsIn, withOperations } from './operations.ts';
import { transcriptOf } from './outcomes.ts';
import { population, shares, survivors } from './population.ts';
import { definePrompts, type Prompts } from './prompt-source.ts';
import { defineProposer, type Propose } from './proposer.ts';
import { type Candidate, frontOf, reflection } from './reflection.ts';

const now = (memory: Json, step = 1) => ({ step, memory, rng: Rng.of('test', step) });
const nobody: Propose = async () => undefined;
const groupOf = (rewards: readonly number[], task = 0): Group => ({
  step: 1,
  group: task,
  members: rewards.map((reward, member) =>
    madeEpisode(member, [], [madeTransition(undefined, reward)], {
      key: madeKey({ task, group: task, member }),
      success: { agent: reward > 0 },
    }),
  ),
});

describe('population (INSPO)', () => {
  const opened = population.create({ initial: ['one', 'two'], decay: 0.5, trials: 1, size: 4, every: 2 });

  test('equal weights are equal shares; a favoured instruction is drawn ever more often', async () => {
    expect(shares([{ weight: 0 }, { weight: 0 }], 0.1)).toEqual([0.5, 0.5]);
    let memory = opened.start();
    const drawn: number[] = [];
    for (let step = 1; step <= 9; step += 2) {
      const told = [
        { prompt: 'one', group: groupOf([0, 0]) },
        { prompt: 'two', group: groupOf([1, 1]) },
      ];
      memory = await opened.tell!(told, { ...now(memory, step), propose: nobody });
      const { all } = memory as { all: { text: string; weight: number }[] };
      drawn.push(shares(all, 0.5)[1]!);
    }
    // The first mean is the weight, later ones move it half of the way.
    expect(drawn[0]).toBeCloseTo(1 / (1 + Math.exp(-2)), 12);
    const other = await opened.tell!([{ prompt: 'two', group: groupOf([1, 0]) }], {
      ...now(memory, 11),
      propose: nobody,
    });
    expect((other as { all: { weight: number }[] }).all.map(({ weight }) => weight)).toEqual([0, 0.75]);
    expect(opened.best(memory)).toBe('two');
  });

  test('halving keeps the better half, whatever was not tried enough, and never none', () => {
    const all = [0.1, 0.9, 0.5, 0].map((weight, place) => ({ text: `${place}`, weight, trials: 3 }));
    const texts = (size: number, trials: number) => survivors(all, { size, trials }).map(({ text }) => text);
    expect(texts(4, 3)).toEqual(['1', '2']);
    expect(texts(1, 1)).toEqual(['1']);
    expect(texts(4, 4)).toEqual(['0', '1', '2', '3']);
  });

  test('an empty, repeated or overlong proposal does not join', async () => {
    const answers = ['', 'one', 'x'.repeat(3000), '```\nthree\n```'];
    const propose: Propose = async () => answers.shift();
    const small = population.create({ initial: ['one'], trials: 1, size: 5, every: 1 });
    const memory = await small.tell!([{ prompt: 'one', group: groupOf([1]) }], {
      ...now(small.start()),
      propose,
    });
    expect((memory as { all: { text: string }[] }).all.map(({ text }) => text)).toEqual(['one', 'three']);
  });
});

describe('experiences (training-free GRPO)', () => {
  test('operations: an update of an unknown place joins, and places are counted anew', () => {
    const answer =
      'Plan: [{"op":"ADD","text":"x"},{"op":"UPDATE","id":"G9","text":"y"},{"op":"DELETE","id":"G0"}]';
    expect(withOperations(['a'], operationsIn(answer)!)).toEqual(['x', 'y']);
    expect(withOperations(['a', 'b'], operationsIn('[{"op":"update","id":"G1","text":"c"}]')!)).toEqual([
      'a',
      'c',
    ]);
    expect(operationsIn('[{"op":"KEEP"}]')).toEqual([]);
    expect([operationsIn('no list'), operationsIn('[{"op":"ADD"}]'), operationsIn(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each([
    ['an experience cited before', 'As [G0] misled…:\n[{"op":"DELETE","id":"G0"}]'],
    ['one cited after', '```json\n[{"op":"DELETE","id":"G0"}]\n```\nThis removes [G0].'],
    [
      'arrays of something else',
      'Attempts [1, 2] and ["x"] fail: [{"op":"DELETE","id":"G0"}] [{"op":"KEEP"}]',
    ],
    ['a bracket that is never closed', 'In [G0: [{"op":"DELETE","id":"G0"}]'],
  ])('operations: %s', (_, answer) => {
    expect(operationsIn(answer)).toEqual([{ op: 'DELETE', id: 'G0' }]);
  });

  test('operations: brackets and quotes within texts are no ends', () => {
    const text = 'Say "a]" or \\ "[[" as [G1] does';
    const list = JSON.stringify(
      [
        { op: 'ADD', text },
        { op: 'DELETE', id: 'G0' },
      ],
      null,
      2,
    );
    expect(operationsIn(`See [G1]: ${list} [end]`)).toEqual([
      { op: 'ADD', text },
      { op: 'DELETE', id: 'G0' },
    ]);
    // What cannot be read is not read in part.
    expect(operationsIn('[{"op":"ADD","text":"use []"},{"op":"ADD"}]')).toBeUndefined();
    expect(operationsIn('[{"op":"ADD","text":"use []"},]')).toBeUndefined();
    expect(operationsIn('[[{"op":"KEEP"}]')).toEqual([]);
  });

  test('a group whose episodes are all right, or all wrong, is skipped', () => {
    expect(
      [
        [1, 1],
        [0, 0],
        [1, 0],
      ].map((rewards) => differs({ prompt: '', group: groupOf(rewards) })),
    ).toEqual([false, false, true]);
  });

  test('what cannot be read is asked for again, then changes nothing', async () => {
    const opened = experiences.create({ summaries: false, retries: 1, initial: ['old'] });
    const told = [{ prompt: '', group: groupOf([1, 0]) }];
    const ask = (answers: (string | undefined)[]) =>
      opened.tell!(told, { ...now(opened.start()), propose: async () => answers.shift() });
    expect(await ask(['what?', '[{"op":"ADD","text":"new"}]'])).toEqual({ experiences: ['old', 'new'] });
    expect(await ask(['what?', 'what?', '[{"op":"ADD","text":"new"}]'])).toEqual({ experiences: ['old'] });
    expect(await ask([undefined])).toEqual({ experiences: ['old'] });
  });

  test('the prompt is the instruction, and under it the list', () => {
    const opened = experiences.create({ instruction: 'Do it.', initial: ['a', 'b'] });
    expect(opened.best(opened.start())).toBe('Do it.\nWhat earlier attempts taught:\n[G0] a\n[G1] b');
    expect(opened.best({ experiences: [] })).toBe('Do it.');
  });
});

describe('reflection (GEPA)', () => {
  const candidate = (text: string, tasks: Readonly<Record<string, number>>): Candidate => ({
    text,
    sum: Object.values(tasks).reduce((sum, earned) => sum + earned, 0),
    groups: Object.keys(tasks).length,
    tasks: Object.entries(tasks),
  });

  test('the front counts the tasks that each leads, without those that another covers', () => {
    const a = candidate('a', { x: 1, y: 0, z: 0.5 });
    const b = candidate('b', { x: 0, y: 1, z: 0.5 });
    expect(frontOf([a, b, candidate('c', { x: 0.4, y: 0.4, z: 0.4 })])).toEqual([2, 2, 0]);
    expect(frontOf([a, b, candidate('d', { z: 0.5 })])).toEqual([2, 2, 0]);
    expect(frontOf([candidate('e', {})])).toEqual([0]);
  });

  test('a successor joins only if it earns more beside its parent', async () => {
    const opened = reflection.create({ initial: 'old', trials: 1 });
    const tell = (memory: Json, told: readonly (readonly [string, readonly number[]])[]) =>
      opened.tell!(
        told.map(([prompt, rewards]) => ({ prompt, group: groupOf(rewards) })),
        { ...now(memory), propose: async () => '<instruction>new</instruction>' },
      );
    const trying = await tell(opened.start(), [['old', [1, 0]]]);
    const asked = Array.from({ length: 40 }, (_, group) =>
      opened.ask({ ...now(trying), group, rng: Rng.of('half', group) }),
    );
    expect(new Set(asked)).toEqual(new Set(['new', 'old']));
    const texts = (memory: Json) =>
      (memory as unknown as { candidates: Candidate[] }).candidates.map(({ text }) => text);
    expect(texts(await tell(trying, [['new', [1]], ['old', [0]]]))).toEqual(['old', 'new']); // biome-ignore format: pairs
    expect(texts(await tell(trying, [['new', [1]], ['old', [1]]]))).toEqual(['old']); // biome-ignore format: pairs
  });
});

test('an instruction stands in a block, or is the whole answer', () => {
  expect(instructionIn('Because …\n<instruction>\nGo left.\n</instruction>', 99)).toBe('Go left.');
  expect(instructionIn(' Go left. ', 99)).toBe('Go left.');
  expect([instructionIn('', 99), instructionIn('Go left.', 3), instructionIn(undefined, 9)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

describe('a source that fails', () => {
  const source = (parts: object) =>
    definePrompts({ name: 'odd', ask: () => '', best: () => '', ...parts }).create();
  test('is named in the error', async () => {
    const failing = source({ ask: () => 3, tell: async () => Promise.reject(new Error('no')) });
    expect(() => failing.ask({ ...now(null), group: 0 })).toThrow('Source of prompts "odd" gave a prompt');
    await expect(failing.tell!([], { ...now(null), propose: nobody })).rejects.toThrow(
      'Source of prompts "odd" threw an error',
    );
    const forgetful = source({ tell: async () => ({ at: new Date() }) });
    await expect(forgetful.tell!([], { ...now(null), propose: nobody })).rejects.toThrow('not JSON');
    await expect(
      defineProposer({ name: 'mute', propose: () => 3 as never }).create()([], {
        ...{ step: 1, call: 0, signal: new AbortController().signal },
      }),
    ).rejects.toThrow('Proposer "mute" proposed something that is no text');
  });
});

const DOORS = { red: 'left', blue: 'right', green: 'up', black: 'down' } as const;
const colours = Object.keys(DOORS) as (keyof typeof DOORS)[];
const ways = Object.values(DOORS);

/** One door of a colour, which opens one way. Nothing in the episode tells which. */
const doors = factoryUnderTest(
  defineEnvironment<{ colour: string }, { colour: string }>({
    name: 'doors',
    description: 'open a door',
    maxTurns: 1,
    tasks: () => ({ size: 4, at: (index: number) => ({ colour: colours[index]! }) }),
    start: ({ colour }) => ({ state: { colour }, messages: [user(`a ${colour} door`)] }),
    step: (state, action) => {
      const success = DOORS[state.colour as keyof typeof DOORS] === action;
      return { state, observation: '', reward: success ? 1 : 0, done: true, success, valid: true };
    },
    actions: () => ways,
  }),
).create({});

/** Does as the prompt says of the colour, and else guesses. */
const policy = mockPolicy(({ messages, seedKey }) => {
  const said = messages.map(({ content }) => content).join('\n');
  const colour = /a (\w+) door/.exec(said)?.[1] ?? '';
  return new RegExp(`${colour} doors open (\\w+)`).exec(said)?.[1] ?? Rng.of('guess', seedKey).pick(ways);
});

/** What it is told of a colour, from an episode that it reads. */
const ruleIn = (messages: readonly Message[]): string => {
  const colour = /a (\w+) door/.exec(messages.at(-1)!.content)?.[1] as keyof typeof DOORS;
  return `${colour} doors open ${DOORS[colour]}`;
};

async function score(prompts: Prompts, memory: Json, tasks = 120): Promise<number> {
  const played = await play(
    Array.from({ length: tasks }, (_, group) => ({ group, prompt: prompts.best(memory) })),
    0,
    1,
  );
  return mean(played.flatMap(({ members }) => members.map(({ outcome }) => outcome.agent!)));
}

const play = (asked: readonly { group: number; prompt: string }[], step: number, members: number) =>
  collectGroups(
    asked.map(({ group, prompt }) => ({
      ...{ step, group, split: 'train' as const, index: group % 4, members, prompt },
      task: { colour: colours[group % 4]! },
    })),
    {
      world: doors,
      policy,
      renderer: noIds,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 1,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: 20_000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      batching: new Lockstep(),
      concurrency: 8,
    },
  );

/** Steps of eight groups of four. */
async function evolve(prompts: Prompts, propose: Propose, steps: number): Promise<readonly [number, number]> {
  let memory = prompts.start();
  const before = await score(prompts, memory);
  for (let step = 1; step <= steps; step++) {
    const rng = (group: number) => Rng.of('ask', step, group);
    const asked = Array.from({ length: 8 }, (_, group) => ({
      group,
      prompt: prompts.ask({ step, memory, group, rng: rng(group) }),
    }));
    const groups = await play(asked, step, 4);
    const told = groups.map((group) => {
      expect(group.members.every(({ prompt = '' }) => prompt === asked[group.group]!.prompt)).toBe(true);
      return { prompt: group.members[0]!.prompt ?? '', group };
    });
    memory = await prompts.tell!(told, { step, memory, rng: Rng.of('tell', step), propose });
  }
  return [before, await score(prompts, memory)];
}

describe('what a scripted policy scores rises', () => {
  const withRule: Propose = async (messages) => {
    const [, now = ''] = /The instruction[^\n]*:\n([\s\S]*?)\n\n/.exec(messages.at(-1)!.content) ?? [];
    if (!messages.at(-1)!.content.includes('door')) return undefined;
    return `<instruction>${now === '(none)' ? '' : `${now}. `}${ruleIn(messages)}</instruction>`;
  };
  const cases: readonly (readonly [string, Prompts, Propose, number])[] = [
    ['population', population.create({ every: 2, trials: 2, size: 4, decay: 0.5 }), withRule, 24],
    ['reflection', reflection.create({ trials: 4, episodes: 1 }), withRule, 40],
    [
      'experiences',
      experiences.create(),
      async (messages) =>
        /Compare its attempts|Merge/.test(messages[0]!.content)
          ? messages[0]!.content.startsWith('You keep a list of experiences for an agent. Several')
            ? `[${/The changes:\n\[(.*)\]/.exec(messages[1]!.content)?.[1]}]`
            : `[{"op":"ADD","text":"${ruleIn(messages)}"}]`
          : messages.at(-1)!.content,
      3,
    ],
  ];
  test.each(cases)('%s', { timeout: 120_000 }, async (_name, prompts, propose, steps) => {
    const [before, after] = await evolve(prompts, propose, steps);
    // Guessing is right in a quarter of the doors.
    expect(before).toBeGreaterThan(0.15);
    expect(before).toBeLessThan(0.35);
    expect(after).toBeGreaterThan(0.9);
  });

  test('without a proposer the better of two given instructions wins, and nothing else is written', {
    timeout: 120_000,
  }, async () => {
    const given = ['red doors open down', colours.map((own) => `${own} doors open ${DOORS[own]}`).join('. ')];
    const prompts = population.create({ initial: given, trials: 2, every: 1 });
    const [, after] = await evolve(prompts, nobody, 4);
    expect(after).toBe(1);
    const useless = population.create({ initial: given.slice(0, 1), trials: 2, every: 1 });
    expect((await evolve(useless, nobody, 4))[1]).toBeLessThan(0.4);
  });

  test('a proposer that says nothing of use improves nothing', { timeout: 120_000 }, async () => {
    const [before, after] = await evolve(
      reflection.create({ trials: 1, episodes: 1 }),
      async () => 'Be careful.',
      8,
    );
    expect(Math.abs(after - before)).toBeLessThan(0.1);
  });
});

test('a transcript tells what was read, done and earned, and is cut in the middle', async () => {
  const [group] = await play([{ group: 0, prompt: 'red doors open left' }], 1, 1);
  const [episode] = group!.members;
  expect(transcriptOf(group!, episode!, 999)).toBe('user: a red door\nagent: left\noutcome: 1 (done)');
  const cut = transcriptOf(group!, episode!, 40);
  expect(cut).toContain('[…]');
  expect(cut).toMatch(/outcome: 1 \(done\)$/);
});
