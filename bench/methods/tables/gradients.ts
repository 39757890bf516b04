/** REINFORCE and RLOO: which way their gradients point on average, how noisy they are, and what that does to learning. */

import { Rng } from '../../../src/core/rng.ts';
import type { Credit } from '../../../src/credit/report/rollouts.ts';
import { type CreditChoice, composeCredit } from '../../../src/credit/shaping/shapings.ts';
import { defineTable } from '../experiment.ts';

const TASKS = 2;
const MEMBERS = 3;
const ACTIONS = 3;

const choices: Readonly<Record<string, CreditChoice>> = {
  reinforce: { method: 'reinforce' },
  'reinforce, batch mean': { method: 'reinforce', options: { baseline: 'batch' } },
  rloo: { method: 'rloo' },
  grpo: { method: 'grpo' },
};

export const gradients = defineTable({
  name: 'gradients',
  methods: ['reinforce', 'rloo'],
  claim:
    'Where every answer is paid for and the better one a little more, the gradients of reinforce and rloo point the right way on average and those of grpo do not; those of reinforce are noisier without a baseline than with one, and those of rloo are less noisy.',
  source: 'Williams, Machine Learning 8, 1992; Back to Basics, arXiv 2402.14740',
  setup:
    'angle and noise: two tasks with three actions, each paid between 1 and 2, and a random policy; all 729 batches of two groups × three episodes are enumerated with their probabilities. angle: degrees between the expected estimate and the exact gradient of the expected reward. noise: the root mean squared distance of the estimate from its mean, over the length of that mean. Without "batch mean" reinforce has no baseline; its recipe has one.',
  arms: ['reinforce', 'reinforce, batch mean', 'rloo', 'grpo'],
  comparisons: [
    { figure: 'angle', arm: 'reinforce', against: 'grpo', expect: 'lower' },
    { figure: 'noise', arm: 'reinforce', against: 'reinforce, batch mean', expect: 'higher' },
    { figure: 'angle', arm: 'rloo', against: 'grpo', expect: 'lower' },
    { figure: 'noise', arm: 'rloo', against: 'reinforce', expect: 'lower' },
  ],
  run: async (arm, seed) => ({ figures: estimates(composeCredit(choices[arm]!).credit, seed) }),
});

/** Exact figures of the estimator on a random bandit. */
function estimates(credit: Credit, seed: number): { readonly angle: number; readonly noise: number } {
  const rng = Rng.of('bandit', seed);
  const rewards_P = Array.from({ length: TASKS }, () =>
    Array.from({ length: ACTIONS }, () => 1 + rng.next()),
  );
  const policy_P = Array.from({ length: TASKS }, () => {
    const weights = Array.from({ length: ACTIONS }, () => Math.exp(rng.normal()));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / total);
  });
  // Of one episode, by task and action: the gradient of its log-probability, as one list over all logits.
  const slope = (task: number, action: number): number[] =>
    policy_P.flatMap((policy, other) =>
      policy.map((p, index) => (other === task ? (index === action ? 1 : 0) - p : 0)),
    );
  const exact = new Array<number>(TASKS * ACTIONS).fill(0);
  for (const [task, policy] of policy_P.entries()) {
    for (const [action, p] of policy.entries())
      add(exact, slope(task, action), (p * rewards_P[task]![action]!) / TASKS);
  }
  const expected = new Array<number>(exact.length).fill(0);
  let square = 0;
  const episodes = TASKS * MEMBERS;
  for (let batch = 0; batch < ACTIONS ** episodes; batch++) {
    const drawn = Array.from({ length: episodes }, (_, index) => ({
      task: Math.floor(index / MEMBERS),
      action: Math.floor(batch / ACTIONS ** index) % ACTIONS,
    }));
    const chance = drawn.reduce((product, { task, action }) => product * policy_P[task]![action]!, 1);
    const { credits } = credit(
      drawn.map(({ task, action }, index) => {
        const reward = rewards_P[task]![action]!;
        const turns = [{ reward, tokens: 1 }];
        return { id: String(index), groupId: String(task), role: 'agent', outcome: reward, turns };
      }),
      {},
    );
    const estimate = new Array<number>(exact.length).fill(0);
    for (const [index, { task, action }] of drawn.entries())
      add(estimate, slope(task, action), credits[index]!.turnAdvantages_K[0]! / episodes);
    add(expected, estimate, chance);
    square += chance * dot(estimate, estimate);
  }
  const size = dot(expected, expected);
  const along = dot(expected, exact) / dot(exact, exact);
  const across = expected.map((value, index) => value - along * exact[index]!);
  const sine = Math.sqrt(dot(across, across) / size);
  // Nine digits: the rest is rounding.
  const angle = Number(((Math.asin(Math.min(1, sine)) * 180) / Math.PI).toFixed(9));
  return { angle, noise: Math.sqrt((square - size) / size) };
}

function add(to: number[], direction: readonly number[], factor: number): void {
  for (const [index, value] of direction.entries()) to[index]! += factor * value;
}

function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, index) => sum + value * right[index]!, 0);
}
