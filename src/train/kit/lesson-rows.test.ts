import { describe, expect, test } from 'vitest';
import { type MadeTurn, madeGroup, madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { type RoleGroup, roleGroups } from '../../core/trajectory.ts';
import { createEmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import type { Engine } from '../../engine/engine.ts';
import { fakeEngine } from '../../testing/fake-engine.ts';
import type { TrainSettings } from '../config/config.ts';
import { learnerOn, learnOnce } from '../learner-on.test-helper.ts';
import type { CreditedSample } from './batch.ts';
import type { Learner } from './learner.ts';
import { lessonRows } from './lesson-rows.ts';
import { policyObjective } from './policy-objective.ts';

const shape = {
  vocabulary: 12,
  width: 16,
  layers: 1,
  heads: 2,
  keyValueHeads: 2,
  headWidth: 8,
  hidden: 32,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10_000,
  contextLength: 64,
  normEpsilon: 1e-5,
} as const;

/** A turn of this many tokens, all of which are `id`. */
const turn = (id: number, tokens: number, reward: number): MadeTurn => ({
  written: new Array<number>(tokens).fill(id),
  reward,
  call: { context: [1, 2], logprobs: new Array<number>(tokens).fill(-2) },
});

/** Of two groups the second is unanimous: it has nothing to compare. */
const groups = roleGroups(
  [0, 1].map((group) => ({
    step: 1,
    group,
    members: [0, 1, 2, 3].map((member) =>
      playedEpisode(member, [turn(3 + member, 1 + member, 0), turn(7, 2, group === 0 ? member : 1)], {
        key: madeKey({ group, member }),
      }),
    ),
  })),
);

function learnerOf(name: string, engine: Engine, settings: TrainSettings = {}): Learner {
  const own = { optimizer: { minibatches: 1, clipNorm: 0 } };
  return learnerOn(engine, name, { ...own, ...settings }, { maxTurns: 5, maxTurnTokens: 8 });
}

async function learn(name: string, engine: Engine, settings?: TrainSettings, played = groups) {
  const { metrics } = await learnOnce(learnerOf(name, engine, settings), played, { step: 9, planned: 10 });
  return metrics;
}

/** Whose values are 0.25 and whose log-probabilities 0, whatever it is asked. */
const scoringEngine = () =>
  fakeEngine({
    score: async ({ rows }) => ({
      logprobs: rows.map(({ ids_T }) => new Float32Array(ids_T.length)),
      values: rows.map(({ ids_T }) => new Float32Array(ids_T.length).fill(0.25)),
    }),
  });

async function withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await createEmbeddedEngine({
    shape,
    seed: 'rows',
    threads: 1,
    tokenBudget: 4096,
    inProcess: true,
  });
  try {
    await engine.freeze();
    return await work(engine);
  } finally {
    await engine.close();
  }
}

describe('the denominator', () => {
  test.each(['rloo', 'grpo', 'gspo', 'cispo', 'clip-cov', 'kl-cov', 'tis', 'dr-grpo', 'reinforce'])(
    '%s: a KL of next to no weight changes no gradient, though zero advantages are passed with it alone',
    async (name) => {
      const norm = (klCoefficient: number) =>
        withEngine(async (engine) => {
          const metrics = await learn(name, engine, { objective: { klCoefficient } });
          return metrics['optim/gradient_norm']!;
        });
      const plain = await norm(0);
      expect(plain).toBeGreaterThan(0);
      // Sums of 32-bit numbers in another order.
      expect(Math.abs((await norm(1e-12)) / plain - 1)).toBeLessThan(2e-8);
    },
  );

  test('counts the tokens of rows that skip the pass', async () => {
    const engine = fakeEngine();
    const metrics = await learn('rloo', engine);
    const [{ rows, targets }] = engine.learned as [(typeof engine.learned)[0]];
    expect(rows).toHaveLength(4);
    // 1 + 2 + 3 + 4 tokens and four times two, in each of both groups.
    expect([...new Set(targets.channels.weight)]).toEqual([Math.fround(1 / 36)]);
    expect(metrics['samples/learned_share']).toBe(0.5);
  });

  test('where nothing differs there is no update, also where an objective looks at the whole step', async () => {
    const unanimous = groups.slice(1);
    for (const name of ['rloo', 'tis', 'clip-cov']) {
      const engine = scoringEngine();
      await learn(name, engine, undefined, unanimous);
      expect(engine.learned).toEqual([]);
    }
  });
});

describe('the constant of Dr. GRPO', () => {
  const weightOf = (settings: TrainSettings, longest: number): number => {
    const learner = learnerOf('dr-grpo', fakeEngine(), settings);
    const sample = (tokens: number): CreditedSample => ({
      sample: {
        episode: madeKey(),
        role: 'agent',
        ids_T: new Int32Array(tokens + 1),
        mask_T: Uint8Array.from({ length: tokens + 1 }, (_, token) => (token > 0 ? 1 : 0)),
        logprobs_T: new Float32Array(tokens + 1),
        turn_T: new Int32Array(tokens + 1),
        call_T: new Int32Array(tokens + 1),
      },
      advantages_T: new Float32Array(tokens + 1).fill(1),
      live: true,
    });
    const objective = policyObjective(learner.config, { critic: false, valueOnly: false });
    const [row] = lessonRows(learner, [sample(3), sample(longest)], objective);
    return row!.channels.weight![1]!;
  };

  test('is the most tokens that an episode may sample, whatever the longest row of the minibatch is', () => {
    expect(weightOf({}, 4)).toBeCloseTo(1 / (2 * 5 * 8), 8);
    expect(weightOf({}, 400)).toBe(weightOf({}, 4));
    expect(weightOf({ rollout: { maxTurns: 2 } }, 4)).toBeCloseTo(1 / (2 * 2 * 8), 8);
  });

  test('can be set', () => {
    expect(weightOf({ objective: { constant: 3000 } }, 4)).toBeCloseTo(1 / 6000, 10);
  });
});

describe('values of turns', () => {
  const turns = (tokens: number): RoleGroup[] =>
    roleGroups([
      madeGroup(
        ...[0, 1, 2].map((member) => playedEpisode(member, [turn(3, tokens, 0), turn(4, tokens, member)])),
      ),
    ]);

  test.each(['turn-gae', 'turn-ppo'])('%s: their loss is a mean over turns', async (name) => {
    const engine = scoringEngine();
    await learn(name, engine, {}, turns(16));
    const [{ rows, targets }] = engine.learned as [(typeof engine.learned)[0]];
    expect(rows).toHaveLength(3);
    for (const row of rows.keys()) {
      const weighed = [...targets.channels.valueWeight!.entries()]
        .filter(([target, weight]) => targets.row_N[target] === row && weight > 0)
        .map(([target, weight]) => [targets.position_N[target], weight]);
      // After two tokens of context each: the first token of both turns.
      expect(weighed).toEqual([
        [2, Math.fround(1 / 6)],
        [20, Math.fround(1 / 6)],
      ]);
    }
  });

  test('PPO weighs the value of a token like the token, to the last bit', async () => {
    const engine = scoringEngine();
    await learn('ppo', engine, {}, turns(16));
    for (const { targets } of engine.learned)
      expect(targets.channels.valueWeight).toEqual(targets.channels.weight);
  });
});
