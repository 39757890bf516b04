/** Whether to compute what rows share once: by an estimate of the work of both ways. */

import { type DecoderShape, parameterShapes } from '../../../model/decoder/decoder.ts';
import type { LoraShape } from '../../../model/decoder/lora.ts';
import { distinctInputs } from './lines.ts';
import type { PackedBatch } from './packed-batch.ts';

/** Trees must promise at least this share of the work of rows, since a second kind of graph has its price. */
const leastGain = 0.15;
/** Passes over a matrix of attention, as so many multiplications for each of its numbers. */
const passesOverWeights = 400;

/** Only with frozen weights: the sums over tokens by which weights learn would else change in their last bits. */
export function paysToShare(batch: PackedBatch, shape: DecoderShape, lora: LoraShape | undefined): boolean {
  if (lora === undefined || batch.sharedRow_B.every((row) => row < 0)) return false;
  const inputs = batch.lengths_B.reduce((sum, length) => sum + length - 1, 0);
  const distinct = distinctInputs(batch);
  const perToken = workOfToken(shape);
  const perPair = shape.layers * shape.heads * (6 * shape.headWidth + passesOverWeights);
  const squares = batch.lengths_B.reduce((sum, length) => sum + (length - 1) ** 2, 0);
  const families = batch.sharedRow_B.filter((row) => row < 0).length;
  // Rows attend in two halves, so that a quarter of the pairs is never made.
  const asRows = inputs * perToken + 0.75 * squares * perPair;
  const asTrees = distinct * perToken + (distinct ** 2 / families) * perPair;
  return asTrees < (1 - leastGain) * asRows;
}

/** Multiplications for each token in the matrices of the layers, forward and to their inputs. */
function workOfToken(shape: DecoderShape): number {
  const matrices = parameterShapes(shape).filter(
    ({ kind, name }) => kind === 'matrix' && name.includes('layers'),
  );
  return 2 * matrices.reduce((sum, { shape: [outputs, inputs] }) => sum + outputs! * inputs!, 0);
}
