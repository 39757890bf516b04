/** What the critic of a recipe expects at places of episodes, for explorers. */

import type { Learner } from './learner.ts';

/** Reads the value head after prompts, in units of reward; undefined without a critic, and where a prompt leaves no room. */
export function placeValues({ config, engine }: Pick<Learner, 'config' | 'engine'>) {
  const { contextLength, valueHead } = engine.capabilities;
  if (!valueHead) return undefined;
  const { temperature } = config.rollout;
  return async (prompts: readonly (readonly number[])[]): Promise<readonly (number | undefined)[]> => {
    const rows = prompts
      .filter(({ length }) => length < contextLength)
      // The value of a prefix stands at the token after it, whichever that is.
      .map((ids) => ({ ids_T: Int32Array.of(...ids, 0) }));
    if (rows.length === 0) return prompts.map(() => undefined);
    const { values = [] } = await engine.score({ rows }, { temperature, values: true });
    let next = 0;
    return prompts.map(({ length }) =>
      length < contextLength ? values[next++]![length]! / config.credit.rewardScale : undefined,
    );
  };
}
