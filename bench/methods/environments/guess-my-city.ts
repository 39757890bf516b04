/** Guess my city: ask whether the hidden city has a feature, then name it. A table answers, so nothing is left to judgement. */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';
import type { TrainSettings } from '../../../src/train/config/config.ts';

/** Three questions tell the cities apart; `asia` repeats one of them, and `snow` helps for a quarter of the cities. */
const FEATURES = ['coast', 'capital', 'europe', 'asia', 'snow'] as const;
const CITIES: Readonly<Record<string, readonly (typeof FEATURES)[number][]>> = {
  lisbon: ['coast', 'capital', 'europe'],
  naples: ['coast', 'europe'],
  vienna: ['capital', 'europe', 'snow'],
  munich: ['europe', 'snow'],
  tokyo: ['coast', 'capital', 'asia'],
  mumbai: ['coast', 'asia'],
  delhi: ['capital', 'asia'],
  kyoto: ['asia'],
};
const NAMES = Object.keys(CITIES);

/** Imitated first: an expert with so many random moves that a third of the episodes of its imitation succeed. */
export const mixedPlay = {
  demonstrations: 1500,
  beginnerShare: 0,
  randomRate: 0.3,
  steps: 200,
} as const satisfies TrainSettings['clone'];

type State = { readonly city: string; readonly asked: readonly string[] };

/** Naming the city pays 1, naming another one nothing, and both end the episode. Six turns. */
export const guessMyCity: Environment<string, State> = defineEnvironment<string, State>({
  name: 'guess-my-city',
  description: 'find out which city is meant',
  maxTurns: 6,
  tasks: () => ({ size: NAMES.length, at: (index) => NAMES[index]! }),
  start: (city) => ({ state: { city, asked: [] }, messages: [user('begin')] }),
  step: ({ city, asked }, action) => {
    const next = { city, asked: [...asked, action] };
    if (action === city)
      return { state: next, observation: 'right', reward: 1, done: true, success: true, valid: true };
    const feature = FEATURES.find((one) => one === action);
    if (feature === undefined) {
      const isCity = NAMES.includes(action);
      return { state: next, observation: isCity ? 'wrong' : 'what?', reward: 0, done: isCity, valid: isCity };
    }
    const observation = `${feature}:${CITIES[city]!.includes(feature) ? 'yes' : 'no'}`;
    return { state: next, observation, reward: 0, done: false, valid: true };
  },
  // What was asked, and what was answered: the city itself is not to be seen.
  anchor: ({ city, asked }) =>
    asked.map((one) => `${one}:${CITIES[city]!.some((feature) => feature === one)}`).join(' '),
  actions: () => [...FEATURES, ...NAMES],
  solve: ({ city, asked }) => {
    const known = (name: string): boolean =>
      asked.every((one) => {
        if (NAMES.includes(one)) return one !== name;
        const feature = one as (typeof FEATURES)[number];
        return CITIES[name]!.includes(feature) === CITIES[city]!.includes(feature);
      });
    const left = NAMES.filter(known);
    if (left.length === 1) return left[0]!;
    const halves = (feature: (typeof FEATURES)[number]): number =>
      Math.abs(left.filter((name) => CITIES[name]!.includes(feature)).length - left.length / 2);
    return [...FEATURES].sort((a, b) => halves(a) - halves(b))[0]!;
  },
});
