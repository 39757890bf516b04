/**
 * The turn controls that are built in.
 *
 * `until-void`: an unlikely token after an observation makes a turn without an action that the environment could use, that turn
 * makes the next ones worse, and their gradients are spikes. SimpleTIR, arXiv 2509.02479, ends the episode there, and takes it
 * out of the loss (the curation `void-turns`).
 * 1. In the paper a turn is void without a code block or an answer; here, where the environment could not use what it wrote.
 */

import { TurnwiseError } from '../../core/errors.ts';
import { definitionRegistry, type Registry } from '../../core/registry.ts';
import { annealed } from './annealed.ts';
import { earlyStop } from './early-stop.ts';
import { extended } from './extended.ts';
import { modeTurns } from './mode-turns.ts';
import { percentile } from './percentile.ts';
import { retry } from './retry.ts';
import { scalingInter } from './scaling-inter.ts';
import { thinkingUnits } from './thinking-units.ts';
import { type DefinedTurns, defineTurns } from './turn-control.ts';
import { twoAttempts } from './two-attempts.ts';

export const usual: DefinedTurns = defineTurns({
  name: 'usual',
  summary: 'as many turns as the settings or the environment say',
});

export const untilVoid: DefinedTurns = defineTurns({
  name: 'until-void',
  summary: 'an episode ends at a turn of the policy without a usable action',
  after({ calls, transitions }, { done }) {
    const isVoid = calls.at(-1)?.trainable === true && transitions.at(-1)?.valid === false;
    return isVoid && !done ? { stop: 'invalid-action' } : 'go on';
  },
});

export const turnsRegistry: Registry<DefinedTurns> = definitionRegistry(
  'turns',
  (parts) => new TurnwiseError('unknown-turns', parts),
  [
    ...[usual, untilVoid, scalingInter, annealed, percentile, extended, earlyStop],
    ...[retry, twoAttempts, thinkingUnits, modeTurns],
  ],
);
