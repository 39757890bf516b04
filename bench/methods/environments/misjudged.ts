/** The pages of `lessons`, judged by somebody who errs: so often the verdict at the end is the wrong one. */

import type { Json } from '../../../src/core/json/json.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';
import { type LessonsOptions, lessons } from './lessons.ts';

export function misjudged({ errors, ...options }: Partial<LessonsOptions> & { errors: number }): Environment {
  const pages = lessons(options);
  return defineEnvironment<Json, Json>({
    ...pages,
    name: 'misjudged',
    description: 'pages whose answers are judged with errors',
    step: (state, action, rng) => {
      const result = pages.step(state, action, rng);
      if (!result.done) return result;
      const success = rng.chance(errors) ? !result.success : result.success === true;
      return { ...result, success, reward: success ? 1 : 0 };
    },
  });
}
