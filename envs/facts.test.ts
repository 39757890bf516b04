/** What built-in environments declare to know is what they tell, in every episode. */

import { expect, test } from 'vitest';
import { factsOf } from '../src/credit/contract/facts.ts';
import { playEpisode } from '../src/env/play.ts';
import { loadEnvironments } from '../src/run/load/environments.ts';

const worlds = (await loadEnvironments()).map((factory) => factory.create(factory.options.parse({})));

test.each(worlds.map((world) => [world.name, world] as const))(
  '%s tells exactly the facts that it declares',
  async (_, world) => {
    for (let seed = 0; seed < 8; seed++) {
      for (const player of ['random', () => 'xyzzy'] as const) {
        const { turns } = await playEpisode(world, world.tasks('train').at(seed % 6), seed, player);
        const facts = turns.map(({ info }) => factsOf(info, 'A turn'));
        const told = facts.map(({ turn, trajectory }) => Object.keys({ ...turn, ...trajectory }));
        expect([...new Set(told.flat())].sort()).toEqual([...(world.facts ?? [])].sort());
        // A method that reads a field of turns finds it in each.
        for (const { turn } of facts) expect(Object.keys(turn)).toEqual(Object.keys(facts[0]!.turn));
      }
    }
  },
);
