/** Tables of rotary position embedding (arXiv:2104.09864), with the slowed components of Llama 3.1. */

import type { DecoderShape, RopeScaling } from './decoder.ts';

/** cos and sin of position * frequency, [contextLength, headWidth / 2]. */
export function rotaryTables(shape: DecoderShape): {
  readonly cos: Float32Array;
  readonly sin: Float32Array;
} {
  const frequencies = rotaryFrequencies(shape, Float32Array);
  const half = frequencies.length;
  const cos = new Float32Array(shape.contextLength * half);
  const sin = new Float32Array(shape.contextLength * half);
  for (let index = 0; index < cos.length; index++) {
    // Rounded as where these models are trained: at position 30,000 a difference of 1e-3.
    const angle = Math.fround(Math.floor(index / half) * frequencies[index % half]!);
    cos[index] = Math.cos(angle);
    sin[index] = Math.sin(angle);
  }
  return { cos, sin };
}

/** theta^(-2i / headWidth) for every component i, scaled; in floats of 32 bits where models are run. */
export function rotaryFrequencies<T extends Float32Array | Float64Array>(
  { ropeTheta, headWidth, ropeScaling }: Pick<DecoderShape, 'ropeTheta' | 'headWidth' | 'ropeScaling'>,
  floats: { from(values: Iterable<number>): T },
): T {
  const half = headWidth / 2;
  return floats.from(
    Array.from({ length: half }, (_, component) => {
      const frequency = ropeTheta ** (-component / half);
      return ropeScaling === undefined ? frequency : slowed(frequency, ropeScaling);
    }),
  );
}

/** Fast components stay, slow ones turn `factor` times slower, those between are blended. */
function slowed(
  frequency: number,
  { factor, lowFrequencyFactor, highFrequencyFactor, originalContextLength }: RopeScaling,
): number {
  const turns = (originalContextLength * frequency) / (2 * Math.PI);
  const blend = (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
  const kept = Math.min(1, Math.max(0, blend));
  return kept * frequency + (1 - kept) * (frequency / factor);
}
