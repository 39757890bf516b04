/** That objectives teach what they are for, on games of a few tokens: fixed seeds, seconds. */

import { describe, expect, it } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import type { DecoderShape } from '../../../model/decoder/decoder.ts';
import { combine } from '../../../objective/contract/combine.ts';
import type { Objective, StepStructure } from '../../../objective/contract/objective.ts';
import { archerAdvantage, archerTargets } from '../../../objective/critic/archer.ts';
import { perturbedLogits } from '../../../objective/critic/ilql.ts';
import { findObjective } from '../../../objective/objectives.ts';
import { sampleAll } from '../../../policy/sampler.ts';
import type { AdamOptions } from '../../engine.ts';
import { forwardBackwardStep } from '../../objective-step.ts';
import { batchOf, type TokenRow } from '../../token-batch.ts';
import type { EmbeddedEngine } from '../embedded-engine.ts';
import { engineOf, tiny } from '../testing/tiny-engine.ts';

const shape: DecoderShape = { ...tiny, layers: 1, contextLength: 16 };
const adam: AdamOptions = {
  learningRate: 0.02,
  beta1: 0.9,
  beta2: 0.98,
  epsilon: 1e-8,
  weightDecay: 0,
  clipNorm: 1,
};

/** States are tokens 1 to 4, actions tokens 5 to 8; 0 ends a row. */
const states = [1, 2, 3, 4];
const end = 0;
const rightAction = (state: number): number => 5 + (state % 4);

interface Step extends StepStructure {
  readonly rows: readonly TokenRow[];
}

async function train(
  engine: EmbeddedEngine,
  objective: Objective,
  steps: number,
  stepOf: (step: number) => Step | Promise<Step>,
  learningRate = adam.learningRate,
): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const { rows, ...structure } = await stepOf(step);
    const rng = Rng.of('draw', step);
    await forwardBackwardStep(engine, batchOf(rows), objective, { temperature: 1, step, rng, ...structure });
    await engine.optimStep({ ...adam, learningRate });
  }
}

function row(ids: readonly number[], channels: Readonly<Record<string, readonly number[]>>): TokenRow {
  return {
    ids_T: Int32Array.from(ids),
    channels: Object.fromEntries(
      Object.entries(channels).map(([name, values]) => [name, Float32Array.from(values)]),
    ),
  };
}

/** Probability of an action in a state that opens the row. */
async function probabilityOf(engine: EmbeddedEngine, actionOf: (state: number) => number): Promise<number[]> {
  const rows = states.map((state) => row([state, actionOf(state)], {}));
  const { logprobs } = await engine.score({ rows }, { temperature: 1 });
  return logprobs.map((values) => Math.exp(values[1]!));
}

const worst = (values: readonly number[]): number => Math.min(...values);
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

describe('preferences', () => {
  // One of two actions is preferred in every state; which one is not in the rewards but in the order of the pairs.
  const other = (state: number): number => 5 + ((state + 1) % 4);
  async function pairs(engine: EmbeddedEngine): Promise<Step> {
    const bare = states.flatMap((state) => [
      row([state, rightAction(state)], {}),
      row([state, other(state)], {}),
    ]);
    const { logprobs } = await engine.score({ rows: bare }, { temperature: 1, frozen: true });
    return {
      rows: bare.map(({ ids_T }, index) =>
        row([...ids_T], {
          weight: [0, 1],
          referenceLogprobs: [...logprobs[index]!],
          oldLogprobs: [...logprobs[index]!],
        }),
      ),
      sequences: bare.map((_, index) => ({ rows: [index], reward: index % 2 === 0 ? 1 : -1 })),
      pairs: states.map((_, index) => [2 * index, 2 * index + 1] as const),
    };
  }

  it.each([
    ['dpo', { beta: 0.5 }, 30],
    ['kto', { beta: 0.5 }, 30],
    ['rebel', { eta: 1 }, 30],
  ])('%s makes the preferred action likelier than the other in every state', async (name, options, steps) => {
    const engine = await engineOf({ shape, tokenBudget: 4 });
    await engine.freeze();
    const step = await pairs(engine);
    const before = [await probabilityOf(engine, rightAction), await probabilityOf(engine, other)];
    expect(Math.max(...before[0]!.map((p, index) => p / before[1]![index]!))).toBeLessThan(1.5);
    await train(engine, findObjective(name).create(options), steps, () => step);
    const [preferred, refused] = [
      await probabilityOf(engine, rightAction),
      await probabilityOf(engine, other),
    ];
    expect(worst(preferred.map((p, index) => p / refused[index]!))).toBeGreaterThan(4);
    // REBEL has a target: a difference of log-ratios equal to that of the rewards, 2.
    if (name === 'rebel') {
      const gained = preferred.map(
        (p, index) => Math.log(p / refused[index]!) - Math.log(before[0]![index]! / before[1]![index]!),
      );
      for (const value of gained) expect(value).toBeCloseTo(2, 0);
    }
  });
});

describe('recorded data of mixed quality', () => {
  // Two turns: state, action, state, action. The behaviour is right in 3 of 10 turns and otherwise one common mistake.
  const mistake = 9;
  const rng = Rng.of('behaviour');
  const games = Array.from({ length: 96 }, () => {
    const turns = [0, 1].map(() => {
      const state = rng.pick(states);
      return { state, action: rng.chance(0.3) ? rightAction(state) : mistake };
    });
    const right = turns.filter(({ state, action }) => action === rightAction(state)).length;
    return { ids: turns.flatMap(({ state, action }) => [state, action]), turns, reward: right / 2 };
  });
  const perTurn = (game: (typeof games)[number], values: readonly number[]): number[] =>
    game.ids.map((_, token) => (token % 2 === 1 ? values[(token - 1) / 2]! : 0));
  const baseline = mean(games.map(({ reward }) => reward));
  const step: Step = {
    rows: games.map((game) =>
      row(game.ids, {
        weight: perTurn(game, [1 / 192, 1 / 192]),
        advantages: perTurn(
          game,
          game.turns.map(({ state, action }) => (action === rightAction(state) ? 1 : 0) - baseline),
        ),
        rewards: perTurn(
          game,
          game.turns.map(({ state, action }) => (action === rightAction(state) ? 1 : 0)),
        ),
      }),
    ),
    sequences: games.map(({ reward }, index) => ({ rows: [index], reward })),
  };

  async function cloned(name: string, options: object): Promise<number> {
    const engine = await engineOf({ shape, tokenBudget: 512 });
    await train(engine, findObjective(name).create(options), 40, () => step);
    return mean(await probabilityOf(engine, rightAction));
  }

  it('filtered cloning and AWR do better than cloning all of it', async () => {
    const all = await cloned('cross-entropy', {});
    expect(all).toBeGreaterThan(0.15);
    expect(all).toBeLessThan(0.45);
    expect(await cloned('filtered-bc', { share: 0.1 })).toBeGreaterThan(0.8);
    expect(await cloned('awr', { temperature: 0.2 })).toBeGreaterThan(0.8);
  });

  it.each([
    [
      'ilql',
      { discount: 0.9, expectile: 0.7, conservatism: 0.01 },
      { q1: 'action', q2: 'action', v: 'scalar' },
    ],
    ['mc-returns', { discount: 0.9, conservatism: 0.01 }, { q1: 'action' }],
  ] as const)(
    '%s beside the cloned policy does better than the cloned policy',
    async (name, options, extraHeads) => {
      const engine = await engineOf({ shape: { ...shape, extraHeads }, tokenBudget: 512 });
      await train(engine, findObjective('cross-entropy').create(), 30, () => step);
      const policy = await engineOf({ shape: { ...shape, extraHeads }, tokenBudget: 512 });
      await train(policy, findObjective('cross-entropy').create(), 30, () => step);
      const objective = findObjective(name).create(options);
      for (let round = 0; round < 12; round++) {
        await engine.freeze(0.5);
        await train(engine, objective, 5, () => step);
      }
      // Greedy decoding of log π + β Q, from the scores of every action.
      let [right, plain] = [0, 0];
      for (const state of states) {
        const rows = [...Array(shape.vocabulary).keys()].map((action) => row([state, action], {}));
        const names = Object.keys(extraHeads).filter((head) => head !== 'v');
        const { heads } = await engine.score({ rows }, { temperature: 1, heads: names });
        const logprobs = (await policy.score({ rows }, { temperature: 1 })).logprobs.map(
          (values) => values[1]!,
        );
        const values = rows.map((_, action) => Math.min(...names.map((head) => heads![head]![action]![1]!)));
        const argmax = (all: readonly number[]): number => all.indexOf(Math.max(...all));
        right += argmax(perturbedLogits(logprobs, values, 16)) === rightAction(state) ? 1 : 0;
        plain += argmax(logprobs) === rightAction(state) ? 1 : 0;
      }
      expect(plain).toBe(0);
      expect(right).toBe(4);
    },
  );
});

describe('ArCHer', () => {
  it('learns a game of two turns from replayed utterances, critic and actor apart', async () => {
    const critic = await engineOf({
      shape: { ...shape, extraHeads: { q1: 'scalar', q2: 'scalar', v1: 'scalar', v2: 'scalar' } },
      tokenBudget: 512,
      seed: 1,
    });
    const actor = await engineOf({ shape, tokenBudget: 512, seed: 2 });
    const heads = ['q1', 'q2', 'v1', 'v2'];
    const readCritic = async (rows: readonly number[][], frozen: boolean) =>
      (
        await critic.score(
          { rows: rows.map((ids) => row([...ids, end], {})) },
          { temperature: 1, heads, frozen },
        )
      ).heads!;
    const rng = Rng.of('archer');
    let played = 0;
    const act = async (contexts: readonly (readonly number[])[]): Promise<number[]> => {
      const results = await sampleAll(
        actor,
        contexts.map((promptIds) => ({
          conversation: String(played),
          keep: 0,
          append: Int32Array.from(promptIds),
          sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 1 },
          stopIds: [],
          seed: `play ${played++}`,
        })),
      );
      return results.map(({ ids }) => ids[0]!);
    };
    interface Transition {
      readonly context: readonly number[];
      readonly action: number;
      readonly reward: number;
      readonly next?: readonly number[];
    }
    const buffer: Transition[] = [];
    const play = async (count: number): Promise<void> => {
      const openings = Array.from({ length: count }, () => [rng.pick(states)]);
      const firsts = await act(openings);
      const contexts = openings.map((opening, index) => [...opening, firsts[index]!, rng.pick(states)]);
      const seconds = await act(contexts);
      for (const [index, context] of contexts.entries()) {
        const opening = openings[index]!;
        const [one, two] = [
          firsts[index]! === rightAction(opening[0]!),
          seconds[index]! === rightAction(context[2]!),
        ];
        buffer.push({ context: opening, action: firsts[index]!, reward: one ? 0.5 : 0, next: context });
        buffer.push({ context, action: seconds[index]!, reward: two ? 0.5 : 0 });
      }
    };
    const criticObjective = findObjective('archer-critic').create();
    // A little entropy, since a policy of a few tokens settles before its critic knows every state.
    const bonus = findObjective('entropy-bonus').create({ entropyCoefficient: 0.1 });
    const actorObjective = combine([findObjective('archer-actor').create(), bonus]);

    const fitCritic = async (): Promise<void> => {
      const batch = rng.shuffle(buffer).slice(0, 64);
      const fresh = await act(batch.map(({ context }) => context));
      const imagined = await readCritic(
        batch.map(({ context }, index) => [...context, fresh[index]!]),
        true,
      );
      const after = await readCritic(
        batch.map(({ context, next }) => [...(next ?? context)]),
        true,
      );
      const rows = batch.map(({ context, action, reward, next }, index) => {
        const start = context.length;
        const q = archerTargets({
          reward,
          done: next === undefined,
          nextValues: [after.v1![index]!.at(-1)!, after.v2![index]!.at(-1)!],
        });
        const at = (position: number, value: number): number[] =>
          Array.from({ length: start + 2 }, (_, token) => (token === position ? value : 0));
        return row([...context, action, end], {
          weight: at(start, 1 / 64).map((weight, token) => (token === start + 1 ? 1 / 64 : weight)),
          actionStart: at(start, 1),
          actionEnd: at(start + 1, 1),
          v1Target: at(start, imagined.q1![index]!.at(-1)!),
          v2Target: at(start, imagined.q2![index]!.at(-1)!),
          q1Target: at(start + 1, q[0]),
          q2Target: at(start + 1, q[1]),
        });
      });
      await train(critic, criticObjective, 1, () => ({ rows }));
    };
    const improveActor = async (): Promise<void> => {
      const batch = rng.shuffle(buffer).slice(0, 64);
      const fresh = await act(batch.map(({ context }) => context));
      const values = await readCritic(
        batch.map(({ context }, index) => [...context, fresh[index]!]),
        false,
      );
      const rows = batch.map(({ context }, index) => {
        const start = context.length;
        const read = (head: string, position: number): number => values[head]![index]![position]!;
        const advantage = archerAdvantage(
          [read('q1', start + 1), read('q2', start + 1)],
          [read('v1', start), read('v2', start)],
        );
        return row([...context, fresh[index]!], {
          weight: [...context.map(() => 0), 1 / 64],
          advantages: [...context.map(() => 0), advantage],
        });
      });
      await train(actor, actorObjective, 1, () => ({ rows }), 0.01);
    };

    await critic.freeze();
    expect(mean(await probabilityOf(actor, rightAction))).toBeLessThan(0.2);
    for (let round = 0; round < 30; round++) {
      await play(24);
      for (let epoch = 0; epoch < 4; epoch++) {
        await fitCritic();
        await critic.freeze(0.3);
      }
      if (round < 8) continue;
      for (let epoch = 0; epoch < 3; epoch++) await improveActor();
      await actor.publish();
    }
    expect(mean(await probabilityOf(actor, rightAction))).toBeGreaterThan(0.6);
  });
});
