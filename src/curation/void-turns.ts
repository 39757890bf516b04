/**
 * Void turns: turns that wrote something, but no action that the environment could use.
 *
 * An unlikely token after an observation makes such turns, they make the next ones worse, and their gradients are spikes.
 * SimpleTIR, arXiv 2509.02479, ends the episode there, takes the whole of it out of the loss and leaves its reward in the baseline.
 * 1. In the paper a turn is void without a code block or an answer; here, where the environment could not use what it wrote.
 * 2. Only episodes that are learned from end so: evaluations go on as the environment says.
 * 3. Whether it ends is the rollout's; agents whose code plays their own episodes decide that themselves.
 */

import { actOf, type Trajectory } from '../core/trajectory.ts';

export function hasVoidTurn({ turns }: Pick<Trajectory, 'turns'>): boolean {
  return turns.some((turn) => actOf(turn)?.trainable === true && !turn.transition?.valid);
}
