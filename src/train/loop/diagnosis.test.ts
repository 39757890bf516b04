/** A policy that learns nothing says why, with examples and settings to try: in every shipped environment, within two steps. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { tagProtocol } from '../../env/tag-protocol.ts';
import { train } from '../../exports/train.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import type { ActChoices } from '../../rollout/act-choices.ts';
import { fullContext } from '../../rollout/context/contexts.ts';
import { unwatched } from '../../rollout/watch.ts';
import { environmentNames } from '../../run/load/environments.ts';
import type { TrainSettings } from '../config/config.ts';
import { trainConfigSchema } from '../config/config.ts';
import type { Learner } from '../kit/learner.ts';
import { diagnose, legalActs } from './diagnosis.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-diagnosis-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A model that has imitated next to nothing. */
const settings: TrainSettings = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 40, steps: 1, batch: 4 },
  rollout: { tasks: 4, group: 4, choices: false },
  evaluation: { every: 0, tasks: 1, finalTasks: 1 },
};

interface Told {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Any number is a legal answer there, and each right one pays: something can be learned from the first step on. */
const paidByChance = ['running-sums'];

test.each(environmentNames.filter((name) => !paidByChance.includes(name)))(
  'an untrained policy in %s',
  async (world) => {
    await train({ world, settings, name: world, runs: folder });
    const events = readFileSync(join(folder, world, 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Told);
    const found = events.find(({ code }) => code === 'hardly-learning');
    expect(found?.message).toMatch(
      /^step [12]: hardly anything can be learned: \d+% of turns invalid .*Try --/,
    );
    expect(found?.facts).toMatchObject({
      invalidShare: expect.any(Number),
      silentShare: expect.any(Number),
      unanimousShare: expect.any(Number),
      entropy: expect.any(Number),
      cutShare: expect.any(Number),
      next: expect.arrayContaining([expect.stringContaining('--')]),
    });
  },
  60_000,
);

test('nothing is said of a policy that never acted', async () => {
  const nothing = diagnose([], {}, undefined, trainConfigSchema.parse({}), async () => ({
    texts: [],
    longest: 0,
  }));
  expect(await nothing).toBeUndefined();
});

test.each([
  ['', '--set context=latest'],
  ['./SmolLM2', '--set chat.contextLength=TOKENS'],
])(
  'episodes that outgrow the context of "%s" are offered what that model takes',
  async (pretrained, first) => {
    const config = trainConfigSchema.parse({ model: { pretrained } });
    const groups = roleGroups([madeGroup(playedEpisode(0, [{ transition: { valid: true } }]))]);
    const found = await diagnose(groups, { 'stop/context-overflow': 1 }, undefined, config, async () => ({
      free: 'because',
    }));
    expect(found!.next.filter((one) => one.includes('ontext'))[0]).toBe(first);
  },
);

describe('most turns are invalid', () => {
  const groups = roleGroups([madeGroup(playedEpisode(0, [{ transition: { valid: false } }]))]);
  const found = (choices: boolean, legal: ActChoices) =>
    diagnose(groups, {}, undefined, trainConfigSchema.parse({ rollout: { choices } }), async () => legal);
  const offer = '--set rollout.choices=true (choose among the legal actions)';

  test('acts are offered to be chosen, where they can be and are not', async () => {
    const listed = { texts: ['left', 'right'], longest: 2 };
    const first = await found(false, listed);
    expect(first!.next[0]).toBe(offer);
    expect(first!.next[1]).toContain('--set clone.steps=');
    expect(first).not.toHaveProperty('free');
    expect((await found(true, listed))!.next).not.toContain(offer);
  });

  test('where they cannot be chosen, it says why', async () => {
    for (const choices of [false, true]) {
      const unlisted = await found(choices, { free: 'because' });
      expect(unlisted!.next).not.toContain(offer);
      expect(unlisted!.free).toBe('because');
    }
  });
});

describe('the legal acts of a learner', () => {
  const tokenizer = WordTokenizer.fromTexts(['left right', 'go']);
  const legal = (actions: (() => string[]) | undefined, more: object = {}, choices = true) => {
    const world = fromEnvironment(
      defineEnvironment<null, number>({
        name: 'corridor',
        description: 'a corridor',
        maxTurns: 1,
        tasks: () => ({ size: 1, at: () => null }),
        start: () => ({ state: 0, messages: [user('go')] }),
        step: (state) => ({ state, observation: 'go', reward: 0, done: true, valid: true }),
        ...(actions && { actions }),
      }),
      more,
    );
    const learner = {
      ...{ world, context: fullContext, renderer: wordRenderer(tokenizer, 2), watch: unwatched },
      config: trainConfigSchema.parse({}),
      engine: { capabilities: { choices } },
    } as unknown as Learner;
    return legalActs(learner, new AbortController().signal)(null);
  };

  test('are those at the beginning of an episode', async () => {
    expect(await legal(() => ['left', 'right'])).toMatchObject({ texts: ['left', 'right'] });
  });

  test.each([
    ['nothing is listed', undefined, {}, true, 'the environment does not list its legal actions'],
    [
      'too many',
      () => Array.from({ length: 300 }, String),
      {},
      true,
      '300 actions are legal, and at most 256 can be listed',
    ],
    [
      'unknown words',
      () => ['up', 'down'],
      {},
      true,
      'the model’s words cannot tell all legal actions apart',
    ],
    ['thoughts', () => ['left'], { protocol: tagProtocol }, true, 'words stand before an action'],
    ['a server', () => ['left'], {}, false, 'the engine samples free text'],
  ] as const)('cannot be chosen among: %s', async (_, actions, more, choices, free) => {
    expect(await legal(actions, more, choices)).toEqual({ free });
  });

  test('an environment that fails there fails no run', async () => {
    const failing = () => {
      throw new Error('no list');
    };
    expect(await legal(failing)).toEqual({ free: expect.stringContaining('no list') });
  });
});
