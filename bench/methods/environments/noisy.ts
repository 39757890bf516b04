/** An environment whose rewards carry noise: at every turn a normal number of this deviation is added. */

import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';

export function noisy(environment: Environment, deviation: number): Environment {
  return defineEnvironment({
    ...environment,
    name: `noisy-${environment.name}`,
    step: (state, action, rng) => {
      const result = environment.step(state, action, rng);
      return { ...result, reward: result.reward + deviation * rng.normal() };
    },
  });
}
