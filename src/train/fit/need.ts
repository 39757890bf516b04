/** One thing that a recipe needs of the place where it learns. */

import type { EngineAbilities } from '../../engine/engine.ts';
import type { World } from '../../env/world.ts';

export interface Place {
  readonly world: Pick<World, 'name' | 'roles' | 'script' | 'facts' | 'correctThought' | 'truth'> &
    Partial<
      Pick<
        World,
        'protocol' | 'returns' | 'users' | 'game' | 'agent' | 'pure' | 'repeats' | 'snapshots' | 'guidance'
      >
    >;
  readonly engine: EngineAbilities;
}

export interface Need {
  readonly of: 'engine' | 'environment' | 'recipe';
  readonly what: string;
  /** The setting that brings the need, where the recipe alone has none. */
  readonly key?: string;
  met(place: Place): boolean;
}
