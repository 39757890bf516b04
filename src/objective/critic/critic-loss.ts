/** How a critic of policy gradients learns: by the squared error of a number, or by classifying returns into bins. */

import type { ValueBins } from '../../model/decoder/decoder.ts';
import type { Objective } from '../contract/objective.ts';
import { hlGauss, twoHot } from './categorical-value.ts';
import { valueLoss } from './value.ts';

export const criticLosses = ['squared', 'hl-gauss', 'two-hot'] as const;

export interface CriticLoss {
  readonly valueLoss: (typeof criticLosses)[number];
  /** Of `hl-gauss` and `two-hot`. */
  readonly valueBins: ValueBins;
  readonly valueCoefficient: number;
  /** Of `squared`; 0 is off. */
  readonly valueClip: number;
}

export function criticLoss({
  valueLoss: name,
  valueBins,
  valueCoefficient,
  valueClip,
}: CriticLoss): Objective {
  if (name === 'squared') return valueLoss({ valueCoefficient, valueClip });
  return (name === 'hl-gauss' ? hlGauss : twoHot)({ ...valueBins, valueCoefficient });
}

/** The value head that a critic with that loss needs. */
export const headOf = ({
  valueLoss: name,
  valueBins,
}: Pick<CriticLoss, 'valueLoss' | 'valueBins'>): true | ValueBins => name === 'squared' || valueBins;
