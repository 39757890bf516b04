/**
 * Void turns: turns that wrote something, but no action that the environment could use.
 *
 * An unlikely token after an observation makes such turns, they make the next ones worse, and their gradients are spikes.
 * SimpleTIR, arXiv 2509.02479, takes the whole episode out of the loss and leaves its reward in the baseline.
 * 1. In the paper generation stops at a void turn; here the episode goes on as the environment says.
 */

import type { Trajectory } from '../core/trajectory.ts';

export function hasVoidTurn({ turns }: Pick<Trajectory, 'turns'>): boolean {
  return turns.some(({ sampled, valid }) => sampled && !valid);
}
