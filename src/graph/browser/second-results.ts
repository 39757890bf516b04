/**
 * Second results in a browser. On WebGPU, onnxruntime-web 1.30 gives the mean of each row as the second result of
 * SimplifiedLayerNormalization, which is to be 1 / root-mean-square: it counts the results of LayerNormalization.
 */

import { usedProvider } from './loaded-graph.ts';

export const givesSecondResults = (): boolean => usedProvider() !== 'webgpu';
