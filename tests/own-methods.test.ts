/** Sources of tasks, turn controls, curations and a context of papers, written as a user writes them: worked numbers, and short runs. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import { runCommandLine } from '../src/cli/command-line.ts';
import { creditCommand } from '../src/cli/commands/credit.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import type { Episode, EpisodeKey, Group } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import type { Json } from '../src/core/json/json.ts';
import type { Now } from '../src/core/remembers.ts';
import { Rng } from '../src/core/rng.ts';
import { madeCall, madeEpisode, madeKey, madeTransition } from '../src/core/testing/made-episodes.ts';
import { roleGroups } from '../src/core/trajectory.ts';
import type { CreditReport } from '../src/credit/report/report.ts';
import type { OpenCuration } from '../src/curation/curation.ts';
import { defineCuration, defineEnvironment, type RunSettings, train, user } from '../src/exports/index.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';
import { cave } from './own-methods/contexts.ts';
import { overTurnMasking, roc, spear, successReplay } from './own-methods/curations.ts';
import { dart, exit } from './own-methods/tasks.ts';
import { attemptRewards, percentiles, scalingInter, twoAttempts, ufo } from './own-methods/turns.ts';

const now = (memory: Json = null, step = 1): Now => ({ step, memory, rng: Rng.of('test', step) });
const view = { role: 'agent', task: null, calls: [], transitions: [], turn: 1, limit: 10 };

/** A group of episodes of one turn: what each earned, and more of each. */
const groupOf = (
  rewards: readonly number[],
  { group = 0, more = () => ({}) }: { group?: number; more?: (member: number) => Partial<Episode> } = {},
): Group => ({
  step: 1,
  group,
  members: rewards.map((reward, member) =>
    madeEpisode(
      member,
      [madeCall(0, 1, { logprobs: [-member] })],
      [madeTransition(0, reward, { valid: member % 3 > 0 })],
      { key: madeKey({ task: group, group, member }), ...more(member) },
    ),
  ),
});

describe('turn controls', () => {
  test('ScalingInter: the limit grows with the steps', () => {
    const control = scalingInter.create();
    const limits = [1, 99, 100, 200, 900].map((step) =>
      control.limit(null, { ...now(null, step), usual: 4 }),
    );
    expect(limits).toEqual([6, 6, 13, 20, 20]);
  });

  test('percentiles: of 1 to 100 turns three quarters take up to 76, and reminders count down', () => {
    const control = percentiles.create();
    const lengths: Group = {
      step: 1,
      group: 0,
      members: Array.from({ length: 100 }, (_, member) =>
        madeEpisode(
          member,
          [],
          Array.from({ length: member + 1 }, () => madeTransition(undefined)),
        ),
      ),
    };
    const seen = control.remember([lengths], now(control.start()));
    const limit = (memory: Json) => control.limit(null, { ...now(memory), usual: 4 });
    expect([limit(control.start()), limit(seen)]).toEqual([200, 76]);
    const decided = (turn: number) =>
      control.after?.({ ...view, turn, limit: 76 }, { ...now(seen), done: false, success: false });
    expect(decided(70)).toEqual({ say: { role: 'user', content: '6 turns left.' } });
    expect(decided(51)).toEqual({ say: { role: 'user', content: 'Extended: 25 turns left.' } });
    expect(decided(50)).toEqual({ say: { role: 'user', content: '1 turns left.' } });
  });

  test('UFO retries what failed, SCoRe once whatever it was worth', () => {
    const again = ufo.create({ attempts: 5 });
    const failed = { ...now(), done: true, success: false };
    expect(again.after?.(view, failed)).toEqual({ retry: { role: 'user', content: 'Wrong. Try again.' } });
    expect(again.after?.({ ...view, turn: 5 }, failed)).toBe('go on');
    expect(again.after?.(view, { ...failed, success: true })).toBe('go on');
    const twice = twoAttempts.create();
    const at = (attempt: number) => ({ ...view, transitions: [madeTransition(0, 1, { attempt })] });
    expect(twice.after?.(at(0), { ...failed, success: true })).toHaveProperty('retry');
    expect(twice.after?.(at(1), failed)).toBe('go on');
    const paid = ([first, second]: readonly [number, number]) =>
      attemptRewards(
        madeEpisode(0, [], [madeTransition(0, first), madeTransition(1, second, { attempt: 1 })]),
        10,
      )[1];
    expect(
      (
        [
          [0, 1],
          [1, 0],
          [1, 1],
          [0, 0],
        ] as const
      ).map(paid),
    ).toEqual([11, -10, 1, 0]);
  });
});

describe('sources of tasks', () => {
  const nobody = { roles: ['agent'], players: [] };
  const round = (memory: Json, wanted: number) => ({
    ...now(memory),
    ...{ round: 0, wanted, members: 4, groups: [], ...nobody },
    tasks: { size: 9, fresh: (count: number) => Array.from({ length: count }, (_, index) => index) },
  });

  test('DART: at a success rate of .8 above a threshold of .6 half of the episodes, and the turns of successes', () => {
    const source = dart.create();
    const asked = source.next(round({ 0: { rate: 0.8, longest: 7 } }, 2));
    expect(asked.map(({ members, maxTurns }) => [members, maxTurns])).toEqual([
      [4, 7],
      [8, 50],
    ]);
    const after = source.remember([groupOf([1, 0, 0, 0])], {
      ...now({ 0: { rate: 0.5, longest: 0 } }),
      ...nobody,
    });
    expect(after).toEqual({ 0: { rate: 0.9 * 0.5 + 0.1 * 0.25, longest: 1 } });
  });

  test('EXIT: places are drawn by the variance of their groups', () => {
    const source = exit.create({ fresh: 0, diverge: 0 });
    const place = (member: number) => ({ episode: madeKey({ member }), transition: 0 });
    const pool = [
      { place: place(1), variance: 0 },
      { place: place(0), variance: 0.25 },
    ];
    expect(source.next(round({ pool }, 3)).map(({ task }) => task)).toEqual(
      Array.from({ length: 3 }, () => ({ place: place(0) })),
    );
    const long = (member: number, reward: number) =>
      madeEpisode(member, [], [madeTransition(undefined), madeTransition(undefined, reward)]);
    const group = { step: 1, group: 0, members: [long(0, 1), long(1, 0)] };
    expect(source.remember([group], { ...now({ pool: [] }), ...nobody })).toEqual({
      pool: [{ place: { episode: group.members[0]!.key, transition: 0 }, variance: 0.25 }],
    });
  });
});

describe('curations', () => {
  const choose = (curation: OpenCuration, groups: readonly Group[], memory: Json = null, step = 1) =>
    curation.choose(groups, { ...now(memory, step), round: 0, batch: groups.length, isIn: () => true });

  test('over-turn masking: in the baseline, not in the loss', () => {
    const group = groupOf([1, 0, 0, 0], { more: (member) => ({ stop: member > 1 ? 'turn-limit' : 'done' }) });
    const { choice } = choose(overTurnMasking.create(), [group]);
    expect(group.members.map((episode) => choice!(episode, 'agent'))).toMatchObject([
      { inBaseline: true, inLoss: true },
      { inBaseline: true, inLoss: true },
      { inBaseline: true, inLoss: false },
      { inBaseline: true, inLoss: false },
    ]);
  });

  test('GRPO-RoC: of 24 successes and 8 failures 12 and 4 are kept, the successes with the fewest errors', () => {
    const group = groupOf([...Array<number>(24).fill(1), ...Array<number>(8).fill(0)]);
    const { choice } = choose(roc.create({ keep: 16 }), [group]);
    const kept = group.members.filter((episode) => choice!(episode, 'agent').inLoss);
    expect([1, 0].map((reward) => kept.filter(({ outcome }) => outcome.agent === reward).length)).toEqual([
      12, 4,
    ]);
    const good = kept.filter(({ outcome }) => outcome.agent === 1);
    expect(good.every(({ transitions }) => transitions[0]!.valid)).toBe(true);
  });

  test('DART: a stored success joins the failed group of its task, and sure turns are not learned from', () => {
    const curation = successReplay.create({ keep: 0.5 });
    const memory = curation.remember([groupOf([1, 0], { group: 3 })], now({}));
    const failed = groupOf([0, 0, 0], { group: 3 });
    const { insert, choice } = choose(curation, [groupOf([1, 0]), failed], memory);
    expect(insert).toEqual([{ group: 1, episode: madeKey({ task: 3, group: 3 }) }]);
    expect(choice!(failed.members[0]!, 'agent').inLoss).toBe(false);
    // Surprises of 0, 1 and 2: the lower half is cut off.
    expect(failed.members.slice(1).map((episode) => choice!(episode, 'agent').weights_K)).toEqual([[1], [1]]);
    expect(choice!(groupOf([0], { group: 3 }).members[0]!, 'agent').weights_K).toEqual([1]);
  });

  test('SPEAR: above the median of the means, and recent', () => {
    const buffer = [1, 0.3, 0.8].map((reward) => ({ episode: madeKey({ step: 1 }), reward }));
    const memory = { means: [0.1, 0.2, 0.4, 0.5, 0.9], buffer };
    const curation = spear.create({ size: 1 });
    expect(choose(curation, [], memory, 3).insert).toHaveLength(2);
    expect(choose(curation, [], memory, 9).insert).toHaveLength(0);
  });
});

const folder = mkdtempSync(join(tmpdir(), 'turnwise-own-methods-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = 4;

/** Two doors of two words, in up to four turns; a state says how many turns are over, so that places are told apart. */
const doors = defineEnvironment(chain({ doors: 2, turns: 4, words: 2 }));

const tiny: RunSettings = {
  seed: 3,
  steps: STEPS,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 24, steps: 12, batch: 8, randomRate: 1, learningRate: 2e-2 },
  rollout: { tasks: 4, group: 6 },
  evaluation: { every: 0, finalTasks: 1 },
  checkpoint: { every: 2 },
};

interface Ran {
  /** Groups of each step, as they are stored. */
  readonly steps: readonly (readonly Group[])[];
  readonly memory: Readonly<Record<'tasks' | 'turns' | 'curation', Json>>;
}

const shard = (name: string, step: number): string => join(folder, name, 'rollouts', `${step}.jsonl.gz`);

async function ran(name: string, settings: RunSettings, recipe = 'grpo'): Promise<Ran> {
  await train({ world: doors, recipe, name, runs: folder, settings: { ...tiny, ...settings } });
  const steps = Array.from({ length: STEPS }, (_, step) => readEpisodeFile(shard(name, step + 1))!.groups);
  const checkpoint = join(folder, name, 'checkpoints', String(STEPS), 'state.json');
  const { state } = JSON.parse(readFileSync(checkpoint, 'utf8')) as {
    readonly state: { readonly memory: Ran['memory'] };
  };
  return { steps, memory: state.memory };
}

/** `turnwise credit` on every stored step gives the advantages that the run used. */
async function expectSameCredit(name: string, steps = STEPS): Promise<void> {
  for (let step = 1; step <= steps; step++) {
    const console = memoryConsole();
    const code = await runCommandLine(['credit', '--rollouts', shard(name, step), '--json'], {
      ...{ commands: [creditCommand], version: '0', console, interrupts: noInterrupts },
    });
    expect([code, console.errors()]).toEqual([0, '']);
    const { trajectories } = JSON.parse(console.output()) as CreditReport;
    const stored = roleGroups(readEpisodeFile(shard(name, step))!.groups)
      .flatMap(({ members }) => members)
      .filter(({ turns }) => turns.length > 0);
    expect(trajectories.map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
    for (const [index, { excluded, turns }] of trajectories.entries()) {
      const credit = stored[index]!.episode.credit?.agent;
      expect(excluded).toBe(credit?.inBaseline ? undefined : true);
      if (!credit) continue;
      expect(credit.trainedIn).toBe(step);
      expect(turns.map(({ advantage }) => advantage)).toEqual(credit.advantages_K.map((own) => own + 0));
    }
  }
}

const episodesOf = ({ steps }: Ran): Episode[] =>
  steps.flatMap((groups) => groups.flatMap(({ members }) => members));

type Best = { readonly best: EpisodeKey | null };

/** The last episode of the step before joins the first group, at half its weight. */
const rejoin = defineCuration({
  name: 'rejoin',
  weighs: true,
  start: (): Best => ({ best: null }),
  choose: (_groups, { memory: { best }, step }) => ({
    insert: best ? [{ group: 0, episode: best }] : [],
    choice: ({ key }) => ({ inBaseline: true, inLoss: true, weight: key.step === step ? 1 : 0.5 }),
  }),
  remember: (groups, { step }) => ({
    best: groups.flatMap(({ members }) => members).findLast(({ key }) => key.step === step)?.key ?? null,
  }),
});

describe('runs', () => {
  test.each(['grpo', 'tree-grpo'])(
    'an earlier episode is a line of the group that it joins: %s',
    async (recipe) => {
      const name = `joined-${recipe}`;
      const { steps } = await ran(name, { curation: new Map([[rejoin, {}]]) }, recipe);
      await expectSameCredit(name);
      let branches = 0;
      for (const [index, [first, ...others]] of steps.entries()) {
        const step = index + 1;
        const joined = first!.members.filter(({ key }) => key.step !== step);
        expect(others.flatMap(({ members }) => members).every(({ key }) => key.step === step)).toBe(true);
        expect(joined.filter(({ credit }) => credit)).toHaveLength(index === 0 ? 0 : 1);
        for (const { key, credit, branchedFrom } of joined) {
          expect(key.step).toBe(step - 1);
          if (credit) expect(credit.agent).toMatchObject({ trainedIn: step, weight: 0.5 });
          if (!branchedFrom) continue;
          branches++;
          expect(joined.map((own) => keyText(own.key))).toContain(keyText(branchedFrom.episode));
        }
      }
      if (recipe === 'tree-grpo') expect(branches).toBeGreaterThan(0);
    },
  );

  test('turns: limits, retries and what was said are in the record', async () => {
    const limited = await ran('limited', { turns: { name: scalingInter, rounds: [2, 3], every: 2 } });
    const longest = limited.steps.map((groups) =>
      Math.max(...groups.flatMap(({ members }) => members.map(({ transitions }) => transitions.length))),
    );
    expect(longest).toEqual([2, 3, 3, 3]);

    const retried = episodesOf(await ran('retried', { turns: { name: ufo, attempts: 8 } }));
    const attempts = retried.flatMap(({ transitions }) => transitions.map(({ attempt = 0 }) => attempt));
    expect(Math.max(...attempts)).toBeGreaterThan(0);
    for (const { calls, transitions } of retried) {
      for (const [index, { attempt = 0, call }] of transitions.entries()) {
        const before = transitions[index - 1]?.attempt ?? 0;
        if (index === 0 || attempt === before) continue;
        expect(attempt).toBe(before + 1);
        expect(calls[call!]!.messages[0]!.content).toBe('Wrong. Try again.');
      }
    }
    await expectSameCredit('retried');

    const told = await ran('told', { turns: { name: percentiles, free: 24 } });
    expect(told.memory.turns).toMatchObject({ turns: expect.any(Array) });
    const said = episodesOf(told).flatMap(({ calls }) => calls.flatMap(({ messages }) => messages));
    expect(said.filter(({ content }) => /turns left\.$/.test(content)).length).toBeGreaterThan(0);
  });

  test('turns: every task is attempted twice, and what was said lies between', async () => {
    const settings = { turns: { name: twoAttempts }, rollout: { tasks: 4, group: 6, maxTurns: 12 } };
    const episodes = episodesOf(await ran('twice', settings));
    const twice = episodes.filter(({ transitions }) => transitions.some(({ attempt }) => attempt === 1));
    expect(twice.length).toBeGreaterThan(episodes.length / 2);
    for (const { calls, transitions } of twice) {
      const second = transitions.findIndex(({ attempt }) => attempt === 1);
      expect(transitions.slice(second).every(({ attempt }) => attempt === 1)).toBe(true);
      expect(calls[transitions[second]!.call!]!.messages[0]!.content).toBe('Correct your answer.');
    }
    await expectSameCredit('twice');
  });

  test('tasks: groups of their own sizes and limits', async () => {
    const { steps, memory } = await ran('dart', { tasks: { name: dart, most: 5, cap: 3 } });
    expect(steps.flat().every(({ members }) => members.length <= 5)).toBe(true);
    expect(Object.keys(memory.tasks as object).length).toBeGreaterThan(0);
    await expectSameCredit('dart');
  });

  test('tasks: a start at a place copies what was done up to there, and trains on none of it', async () => {
    const run = await ran('places', { tasks: { name: exit, fresh: 0.2, diverge: 0.5 } });
    const all = new Map(episodesOf(run).map((episode) => [keyText(episode.key), episode]));
    const started = episodesOf(run).filter(({ startedAt }) => startedAt);
    expect(started.length).toBeGreaterThan(0);
    for (const { startedAt, calls, transitions, key } of started) {
      const { episode, transition } = startedAt!.at(-1)!;
      const origin = all.get(keyText(episode))!;
      expect(episode.step).toBeLessThan(key.step);
      const actions = (of: Episode['transitions']) =>
        of.slice(0, transition + 1).map((own) => [own.anchor, own.action]);
      expect(actions(transitions)).toEqual(actions(origin.transitions));
      const copied = calls.slice(0, transition + 1);
      expect(copied.map(({ trainable }) => trainable)).toEqual(copied.map(() => 'earlier'));
      expect(copied.map(({ ids, context }) => [ids, context])).toEqual(
        origin.calls.slice(0, transition + 1).map(({ ids, context }) => [ids, context]),
      );
      expect(calls.slice(transition + 1).every(({ trainable }) => trainable === true)).toBe(true);
    }
    const instructed = started.filter(({ startedAt, calls }) =>
      calls[startedAt!.at(-1)!.transition + 1]?.messages.some(
        ({ content }) => content === 'try something different',
      ),
    );
    expect(instructed.length).toBeGreaterThan(0);
    expect(instructed.length).toBeLessThan(started.length);
    await expectSameCredit('places');
  });

  test.each([
    ['over-turn-masking', new Map([[overTurnMasking, {}]])],
    ['roc', new Map([[roc, { keep: 4 }]])],
    ['success-replay', new Map([[successReplay, { keep: 0.6 }]])],
    ['spear', new Map([[spear, { size: 0 }]])],
    [
      'two, one after another',
      new Map<typeof roc | string, object>([
        [roc, { keep: 4 }],
        ['varied', { share: 0.5 }],
      ]),
    ],
  ] as const)('curations: %s; the stored file gives the advantages of the run', async (name, curation) => {
    const short = name.replaceAll(/[^a-z]/g, '-');
    // Epochs of two tasks, so that a task comes again and its successes can join.
    const run = await ran(short, {
      curation,
      rollout: { tasks: 2, group: 6, minimumMembers: 1, maxTurns: 3 },
    });
    await expectSameCredit(short);
    const inserted = run.steps.flatMap((groups, index) =>
      groups.flatMap(({ members }) => members.filter(({ key }) => key.step !== index + 1)),
    );
    const credits = episodesOf(run).flatMap(({ credit }) => credit?.agent ?? []);
    if (name === 'spear') expect(inserted.length).toBeGreaterThan(0);
    if (name === 'over-turn-masking') expect(credits.some(({ inLoss }) => !inLoss)).toBe(true);
    if (name === 'success-replay')
      expect(credits.some(({ weights_K = [] }) => weights_K.includes(0))).toBe(true);
    if (name === 'roc') {
      const left = episodesOf(run).filter(({ credit }) => !credit);
      expect(left.length).toBeGreaterThan(0);
    }
    for (const { credit, key } of inserted)
      if (credit) expect(credit.agent!.trainedIn).toBeGreaterThan(key.step);
  });
});

describe('a context that compacts', () => {
  /** Ten turns of a long result each; the last one ends it. */
  const reading = defineEnvironment<null, { turn: number }>({
    name: 'reading',
    description: '',
    maxTurns: 12,
    tasks: () => ({ size: 4, at: () => null }),
    start: () => ({ state: { turn: 0 }, messages: [user('question')] }),
    step: ({ turn }, action) => ({
      state: { turn: turn + 1 },
      observation: `result ${'of many words '.repeat(3)}`,
      ...{ reward: turn === 9 ? 1 : 0, done: turn === 9, success: turn === 9, valid: action === 'read' },
    }),
    actions: () => ['read'],
    solve: () => 'read',
  });

  async function played(options: object): Promise<Episode[]> {
    const name = `cave-${Object.values(options).join('-').replaceAll('.', '')}`;
    await train({
      ...{ world: reading, recipe: 'grpo', name, runs: folder },
      settings: { ...tiny, steps: 1, rollout: { tasks: 2, group: 2 }, context: { name: cave, ...options } },
    });
    return readEpisodeFile(shard(name, 1))!.groups.flatMap(({ members }) => members);
  }

  test('CaveAgent: results are left out first, all but the latest', async () => {
    const episodes = await played({ compactAt: 0.5, intact: 2, fewest: 20 });
    const parts = episodes.flatMap(({ calls }) => calls.map((call) => call.parts ?? []));
    const omitted = parts.map(
      (own) => own.filter((part) => 'content' in part && part.content === '[result omitted]').length,
    );
    expect(Math.max(...omitted)).toBeGreaterThan(1);
    for (const own of parts) {
      const shown = own.filter((part) => 'shown' in part);
      // The question, the latest two and what is new.
      if (own.some((part) => 'content' in part)) expect(shown).toHaveLength(1 + 2 + 1);
    }
    expect(episodes.every(({ calls }) => calls.every(({ purpose }) => purpose === 'act'))).toBe(true);
  });

  test('CaveAgent: then the older half becomes a summary, which is trained', async () => {
    const episodes = await played({ compactAt: 0.15, intact: 2, fewest: 2 });
    const asked = episodes.flatMap(({ calls }) => calls.filter(({ purpose }) => purpose === 'summarize'));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.every(({ trainable }) => trainable === true)).toBe(true);
    await expectSameCredit('cave-015-2-2', 1);
  });
});
