/** Car Dealer of LMRL-Gym (arXiv 2311.18232): sell a car to a scripted buyer whose budget is hidden. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';

/** A buyer. The seller sees the personality, and hears the type when asking; the budget stays hidden. */
export type Buyer = {
  readonly personality: string;
  readonly type: string;
  readonly budget: number;
};
export type DealState = {
  readonly buyer: Buyer;
  /** Whether the seller knows which type is wanted. */
  readonly knowsType: boolean;
  /** The cheapest price that was refused for the wanted type. */
  readonly refused: number;
  readonly offers: number;
  readonly over?: 'sold' | 'left';
  readonly price?: number;
};

/** In thousands of dollars, as in LMRL-Gym. */
export const BUDGETS = [10, 30, 50, 70, 90] as const;
export const TYPES = ['sedan', 'suv', 'truck', 'van', 'coupe', 'convertible'] as const;
/** Offers that a personality listens to. */
export const PATIENCE: Readonly<Record<string, number>> = { hasty: 1, busy: 2, calm: 3, patient: 4 };
/** What a buyer pays of the budget for another type than the wanted one. */
export const OTHER_TYPE = 0.5;

const optionsSchema = z.strictObject({ wording: wordingOption });

const BUYERS: readonly Buyer[] = Object.keys(PATIENCE).flatMap((personality) =>
  TYPES.flatMap((type) => BUDGETS.map((budget) => ({ personality, type, budget }))),
);

/** The most that the buyer pays for a car of this type. */
export function reservation({ type, budget }: Buyer, offered: string): number {
  return offered === type ? budget : budget * OTHER_TYPE;
}

/**
 * The best price for a car of the wanted type, and what it brings on average, where budgets below `refused` are possible and
 * equally likely, and `left` offers will be heard.
 */
export function bestPrice(
  refused: number,
  left: number,
): { readonly price: number; readonly revenue: number } {
  const possible = BUDGETS.filter((budget) => budget < refused);
  if (left === 0 || possible.length === 0) return { price: 0, revenue: 0 };
  const plans = possible.map((price) => {
    const buys = possible.filter((budget) => budget >= price).length / possible.length;
    return { price, revenue: buys * price + (1 - buys) * bestPrice(price, left - 1).revenue };
  });
  return plans.reduce((best, plan) => (plan.revenue > best.revenue ? plan : best));
}

const PRICES = BUDGETS;
const ACTIONS: readonly string[] = [
  'ask',
  ...TYPES.flatMap((type) => PRICES.map((price) => `${type} ${price}`)),
];

/** The environment. A sale pays its price over 100, everything else nothing. Asking for the type costs one turn and no offer. */
export function carDealer(): Environment<Buyer, DealState> {
  return defineEnvironment<Buyer, DealState>({
    name: 'car-dealer',
    description: 'Sell a car at the best price to a buyer whose budget is hidden.',
    maxTurns: 8,
    // Two draws with the same budget and type but another personality are different buyers.
    tasks: BUYERS,
    start: (buyer) => {
      const state: DealState = { buyer, knowsType: false, refused: UNLIMITED, offers: 0 };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (state, action) => {
      const valid = ACTIONS.includes(action);
      const next = !valid ? state : action === 'ask' ? { ...state, knowsType: true } : offer(state, action);
      const reward = next.over === 'sold' ? next.price! / 100 : 0;
      return {
        state: next,
        observation: `${valid ? '' : 'invalid '}${observe(next)}`,
        reward,
        done: next.over !== undefined,
        success: next.over === 'sold',
        valid,
        metrics: { revenue: reward * 100 },
        info: { credit: { effectiveActions: valid ? 1 : 0 } },
      };
    },
    facts: ['effectiveActions'],
    anchor: observe,
    actions: () => ACTIONS,
    solve: ({ buyer, knowsType, refused, offers }) =>
      knowsType ? `${buyer.type} ${bestPrice(refused, PATIENCE[buyer.personality]! - offers).price}` : 'ask',
    stumble: ({ buyer, knowsType, refused }, rng) => {
      // Bargains with whatever car stands nearest, from a middling price downwards.
      const prices = PRICES.filter((price) => price < refused && price <= 50);
      return `${knowsType ? buyer.type : rng.pick(TYPES)} ${prices.at(-1) ?? PRICES[0]}`;
    },
    render: (state) =>
      `${state.buyer.personality} buyer of a ${state.buyer.type} with ${state.buyer.budget}; ${observe(state)}`,
    natural: {
      instructions: [
        'You sell cars. Each buyer wants one type and has a hidden budget of 10, 30, 50, 70 or 90 thousand dollars. Buyers pay up to their budget',
        `for the wanted type and half of it for another. Types: ${TYPES.join(', ')}. A hasty buyer hears one offer, a busy one two, a calm one three, a patient one four.`,
        'Sell as dear as you can. Answer with ask, to hear the wanted type, or with a type and a price in thousands, such as suv 50, and nothing else.',
      ].join(' '),
      example: [
        ['A calm buyer comes in. What do you say?', 'ask'],
        ['The calm buyer wants a van. What do you say?', 'van 70'],
      ],
      observe: (state, step) => {
        const { buyer, knowsType, refused, over, price, offers } = state;
        if (over === 'sold') return `The buyer pays ${price} thousand dollars.`;
        if (over === 'left') return 'The buyer leaves.';
        const wrong = step?.valid === false ? 'The buyer does not understand. ' : '';
        const wish = knowsType
          ? `The ${buyer.personality} buyer wants a ${buyer.type}.`
          : `A ${buyer.personality} buyer comes in.`;
        const limit = refused < UNLIMITED ? ` ${refused} was too much for the wanted type.` : '';
        const heard = offers > 0 ? ` Offers so far: ${offers}.` : '';
        return `${wrong}${wish}${limit}${heard} What do you say?`;
      },
    },
  });
}

const UNLIMITED = 1000;

function offer(state: DealState, action: string): DealState {
  const [type, price] = action.split(' ') as [string, string];
  const { buyer } = state;
  const offers = state.offers + 1;
  if (Number(price) <= reservation(buyer, type))
    return { ...state, offers, over: 'sold', price: Number(price) };
  const refused = type === buyer.type ? Math.min(state.refused, Number(price)) : state.refused;
  const next = { ...state, offers, refused };
  return offers >= PATIENCE[buyer.personality]! ? { ...next, over: 'left' } : next;
}

/** The buyer as the seller knows it. */
function observe({ buyer, knowsType, refused, offers, over, price }: DealState): string {
  if (over !== undefined) return over === 'sold' ? `sold ${price}` : 'left';
  return [
    buyer.personality,
    `wants:${knowsType ? buyer.type : 'unknown'}`,
    `offers:${offers}`,
    ...(refused < UNLIMITED ? [`refused:${refused}`] : []),
  ].join(' ');
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'car-dealer',
  description: 'Sell a car at the best price to a buyer whose budget is hidden.',
  options: optionsSchema,
  settings: { steps: 100, model: { width: 64, layers: 2, hidden: 172 }, clone: { steps: 200 } },
  create: ({ wording }) => fromEnvironment(carDealer(), { wording }),
});
