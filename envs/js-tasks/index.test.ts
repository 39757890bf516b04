import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { type Facts, factsOf } from '../../src/credit/contract/facts.ts';
import { playEpisode } from '../../src/env/play.ts';
import type { Session } from '../../src/env/session.ts';
import type { PlayerKind, World } from '../../src/env/world.ts';
import { world as factory } from './index.ts';
import { OPERATION_NAMES } from './operations.ts';
import { COMPOSITIONS, jsTasks, splitOf } from './tasks.ts';

const wordsWorld = factory.create(factory.options.parse({}));
const toolsWorld = factory.create(factory.options.parse({ wording: 'natural' }));
const signal = (): AbortSignal => new AbortController().signal;

async function play(
  world: World,
  index: number,
  kind: PlayerKind,
): Promise<{ success: boolean; lines: string[] }> {
  const session = await world.open(world.tasks('test').at(index), Rng.of(index));
  const rng = Rng.of(kind, index);
  const told = (): string =>
    session
      .observe('agent')
      .map(({ content }) => content)
      .join('\n');
  const lines = [told()];
  let success = false;
  for (let turn = 0; turn < world.maxTurns && session.toMove() !== undefined; turn++) {
    const text = world.protocol.format((await world.script!(session, kind, rng))!);
    const parsed = world.protocol.parse(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    const result = await session.step(parsed.action, signal());
    expect(result.valid).toBe(true);
    success = result.done && result.success.agent === true;
    lines.push(`> ${text}`, told());
  }
  await session.close();
  return { success, lines };
}

/** Answers in turn, from a session of its own. */
async function answers(world: World, index: number, actions: readonly string[]): Promise<string[]> {
  const session = await world.open(world.tasks('test').at(index), Rng.of(index));
  session.observe('agent');
  const told: string[] = [];
  for (const action of actions) {
    const { valid } = await session.step(action, signal());
    told.push(`${session.observe('agent')[0]!.content}${valid ? '' : ' (invalid)'}`);
  }
  await session.close();
  return told;
}

/** The first test task whose source is a list, packed or not. */
function listTask(packed: boolean): number {
  const tasks = wordsWorld.tasks('test');
  for (let index = 0; ; index++) {
    const task = tasks.at(index) as { source: string; packed: boolean };
    if (task.source === 'xs' && task.packed === packed) return index;
  }
}

describe('tasks', () => {
  test('no pair of operations is in two splits; every operation is seen in training in each of its places', () => {
    const inSplit = (split: string) => COMPOSITIONS.filter((pair) => splitOf(pair) === split);
    expect(['train', 'validation', 'test'].map((split) => inSplit(split).length)).toMatchInlineSnapshot(`
      [
        41,
        11,
        11,
      ]
    `);
    for (const place of ['inner', 'outer'] as const) {
      const trained = new Set(inSplit('train').map((pair) => pair[place]));
      for (const pair of COMPOSITIONS) expect(trained).toContain(pair[place]);
    }
    for (const split of ['validation', 'test'] as const)
      for (let index = 0; index < 50; index++) expect(splitOf(jsTasks(split, 0.3).at(index))).toBe(split);
    expect(jsTasks('test', 0.3).at(7)).toEqual(jsTasks('test', 0.3).at(7));
    expect(OPERATION_NAMES).toHaveLength(18);
  });
});

describe('players', () => {
  test('the expert solves every task, in 3 turns or, where a list must be parsed, in 5', async () => {
    const played = await Promise.all(
      Array.from({ length: 50 }, (_, index) => play(wordsWorld, index, 'expert')),
    );
    expect(played.every(({ success }) => success)).toBe(true);
    const turns = played.map(({ lines }) => (lines.length - 1) / 2);
    expect([...new Set(turns)].sort()).toEqual([3, 5]);
    expect(played[listTask(true)]!.lines).toMatchInlineSnapshot(`
      [
        "find evens of rest of xs",
        "> run r = rest(xs)",
        "error unparsed",
        "> run xs = parse(xs)",
        "ok list",
        "> run r = rest(xs)",
        "ok list",
        "> run r = evens(r)",
        "ok list",
        "> submit r",
        "right answer",
      ]
    `);
  });

  test('the expert solves tasks by tool calls', async () => {
    const played = await Promise.all(
      Array.from({ length: 20 }, (_, index) => play(toolsWorld, index, 'expert')),
    );
    expect(played.every(({ success }) => success)).toBe(true);
    expect(played[listTask(true)]!.lines.slice(1)).toMatchInlineSnapshot(`
      [
        "> <tool_call>{"arguments":{"code":"r = rest(xs)"},"name":"run"}</tool_call>",
        "TypeError: rest needs a list, not unparsed text",
        "> <tool_call>{"arguments":{"code":"xs = parse(xs)"},"name":"run"}</tool_call>",
        "[2,5,2,5,2]",
        "> <tool_call>{"arguments":{"code":"r = rest(xs)"},"name":"run"}</tool_call>",
        "[5,2,5,2]",
        "> <tool_call>{"arguments":{"code":"r = evens(r)"},"name":"run"}</tool_call>",
        "[2,2]",
        "> <tool_call>{"arguments":{"expression":"r"},"name":"submit"}</tool_call>",
        "Your answer is right.",
      ]
    `);
    expect(played[0]!.lines[0]).toContain('"name":"submit"');
  });

  test('the beginner solves some, random moves hardly any', async () => {
    const rate = async (kind: PlayerKind): Promise<number> => {
      const played = await Promise.all(
        Array.from({ length: 100 }, (_, index) => play(wordsWorld, index, kind)),
      );
      return played.filter(({ success }) => success).length / 100;
    };
    const beginner = await rate('beginner');
    expect(beginner).toBeGreaterThan(0.2);
    expect(beginner).toBeLessThan(0.7);
    expect(await rate('random')).toBeLessThan(0.05);
  });
});

describe('sessions', () => {
  test('words: variables persist, mistakes are told in two words', async () => {
    const said = await answers(wordsWorld, listTask(false), [
      'run r = sum(xs)',
      'run r = double(r)',
      'run r = evens(ys)',
      'run r = upper(xs)',
      'run missing + 1',
      'run r = (',
      'dance',
      '',
      'submit missing',
      'submit word',
    ]);
    expect(said).toMatchInlineSnapshot(`
      [
        "ok number",
        "ok number",
        "ok list",
        "error type",
        "error reference",
        "error syntax",
        "error command (invalid)",
        "error command (invalid)",
        "error reference",
        "wrong answer",
      ]
    `);
    for (const answer of said) expect(answer.replace(' (invalid)', '').split(' ')).toHaveLength(2);
  });

  test('tools: plain JavaScript works too, arguments are checked, output is shown', async () => {
    const call = (name: string, input: Record<string, string>): string =>
      JSON.stringify({ name, arguments: input });
    expect(
      await answers(toolsWorld, listTask(true), [
        call('run', { code: 'xs' }),
        call('run', {
          code: 'let total = 0; for (const x of JSON.parse(xs)) total += x; console.log("total"); total',
        }),
        call('run', { program: '1' }),
        call('submit', { expression: 'nothing' }),
        call('submit', { expression: 'word' }),
      ]),
    ).toMatchInlineSnapshot(`
      [
        ""[2,5,2,5,2]"",
        "total
      16",
        "Call one of the tools. (invalid)",
        "ReferenceError: 'nothing' is not defined",
        "Your answer is wrong.",
      ]
    `);
  });

  test('a session from a snapshot continues by itself; episodes do not see each other', async () => {
    const index = listTask(false);
    const session = await wordsWorld.open(wordsWorld.tasks('test').at(index), Rng.of(0));
    await session.step('run r = 1', signal());
    const anchor = session.anchor('agent');
    const snapshot = await session.snapshot!();
    const copy = await snapshot.open();
    await copy.step('run r = 2', signal());
    await session.step('run xs', signal());
    expect(session.anchor('agent')).toBe(anchor);
    expect(copy.anchor('agent')).not.toBe(anchor);
    const other = await wordsWorld.open(wordsWorld.tasks('test').at(index), Rng.of(0));
    expect(other.anchor('agent')).not.toBe(anchor);
    await Promise.all([session.close(), copy.close(), other.close(), snapshot.dispose()]);
  });

  test('a failure of the sandbox is thrown, never told', async () => {
    const session = await wordsWorld.open(wordsWorld.tasks('test').at(0), Rng.of(0));
    await session.close();
    await expect(session.step('run 1', signal())).rejects.toMatchObject({ code: 'sandbox-closed' });
  });
});

describe('facts for credit', () => {
  const episode = async (world: World, index: number, kind: PlayerKind) => {
    const { turns, success } = await playEpisode(world, world.tasks('train').at(index), index, kind);
    return { success, facts: turns.map(({ info }) => factsOf(info, 'A turn')) };
  };
  const callsOf = (facts: readonly Facts[]) => facts.flatMap(({ turn }) => turn.calls!);

  test.each([
    ['words', wordsWorld],
    ['tools', toolsWorld],
  ] as const)('the golden calls are what the expert runs (%s)', async (_, world) => {
    let parsed = 0;
    for (let index = 0; index < 30; index++) {
      const { facts } = await episode(world, index, 'expert');
      const { goldenCalls, neededCalls } = facts[0]!.trajectory;
      expect(callsOf(facts)).toEqual(goldenCalls);
      expect(neededCalls).toBe(goldenCalls!.length);
      expect(facts.slice(1).some(({ trajectory }) => trajectory.goldenCalls !== undefined)).toBe(false);
      expect(facts.at(-1)).toMatchObject({
        turn: { correct: true, calls: [] },
        trajectory: { entityShare: 1 },
      });
      parsed += neededCalls === 4 ? 1 : 0;
    }
    expect(parsed).toBeGreaterThan(3);
  });

  test('what is named, changed and answered is told turn by turn; a snapshot remembers', async () => {
    const index = listTask(false);
    const { inner } = wordsWorld.tasks('test').at(index) as { inner: string };
    const session = await wordsWorld.open(wordsWorld.tasks('test').at(index), Rng.of(0));
    const told = async (at: Session, action: string) =>
      (await at.step(action, signal())).info as { credit: object };
    expect(await told(session, 'run 1 + 1')).toMatchObject({
      credit: {
        calls: [{ name: 'run', arguments: { code: '1 + 1' } }],
        answer: '',
        correct: false,
        effectiveActions: 0,
        entityShare: 0,
        neededCalls: 2,
      },
    });
    expect(await told(session, `run r = ${inner}(xs)`)).toMatchObject({
      credit: { effectiveActions: 1, entityShare: 2 / 3 },
    });
    const copy = await (await session.snapshot!()).open();
    expect(await told(copy, 'dance')).toEqual({
      credit: { calls: [], answer: '', correct: false, effectiveActions: 0, entityShare: 2 / 3 },
    });
    expect(await told(session, 'submit word')).toMatchObject({
      credit: { calls: [], answer: expect.stringMatching(/^"\w+"$/), correct: false, effectiveActions: 1 },
    });
    await Promise.all([session.close(), copy.close()]);
  });
});
