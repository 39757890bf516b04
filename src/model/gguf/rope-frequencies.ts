/** Llama 3.1's slowed rotation, which GGUF keeps as what each frequency is divided by, and a configuration as four numbers. */

import type { DecoderShape, RopeScaling } from '../decoder/decoder.ts';
import { rotaryFrequencies } from '../decoder/rotary-tables.ts';

type Rotation = Pick<DecoderShape, 'ropeTheta' | 'headWidth'>;

/** What every frequency is divided by. */
export function frequencyDivisors(
  { ropeTheta, headWidth }: Rotation,
  ropeScaling: RopeScaling,
): Float32Array {
  const rotation = { ropeTheta, headWidth };
  const slowed = rotaryFrequencies({ ...rotation, ropeScaling }, Float64Array);
  return Float32Array.from(rotaryFrequencies(rotation, Float64Array), (value, i) => value / slowed[i]!);
}

/** How far recomputed divisors may be from those of the file. */
const TOLERANCE = 1e-5;

/**
 * The four numbers from which these divisors follow; undefined where no four numbers give them. Between fast components,
 * which stay, and slow ones, which are divided by `factor`, the kept share of a frequency is linear in it: a line through
 * those shares gives the rest. Only ratios of the low and high factor and the context can be told apart: the low factor is 1,
 * as in all models known.
 */
export function scalingFromDivisors(rotation: Rotation, divisors: Float32Array): RopeScaling | undefined {
  const factor = divisors.reduce((most, value) => Math.max(most, value), 1);
  const frequencies = rotaryFrequencies(rotation, Float64Array);
  const points: { readonly x: number; readonly y: number }[] = [];
  for (const [i, divisor] of divisors.entries()) {
    const kept = (1 / divisor - 1 / factor) / (1 - 1 / factor);
    if (kept > 0 && kept < 1) points.push({ x: frequencies[i]!, y: kept });
  }
  if (points.length < 2) return undefined;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const slope = covariance / points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const high = rounded(1 - 1 / (meanY - slope * meanX));
  const scaling = {
    factor: rounded(factor),
    lowFrequencyFactor: 1,
    highFrequencyFactor: high,
    originalContextLength: Math.round(slope * 2 * Math.PI * (high - 1)),
  };
  const again = frequencyDivisors(rotation, scaling);
  const isSame = again.every((value, i) => Math.abs(value / divisors[i]! - 1) <= TOLERANCE);
  return isSame ? scaling : undefined;
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
