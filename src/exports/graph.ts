/** Symbolic tensors with gradients, written as ONNX and run by onnxruntime. Knows nothing of language. @module */

export { gradients } from '../graph/gradient.ts';
export { Graph } from '../graph/graph.ts';
export { loadGraph } from '../graph/node/loaded-graph.ts';
export { toOnnx } from '../graph/onnx.ts';
export { causalAttention } from '../graph/operators/attention.ts';
export {
  add,
  clamp,
  divide,
  maximum,
  minimum,
  multiply,
  negate,
  type Operand,
  subtract,
} from '../graph/operators/elementwise.ts';
export { gelu, rmsNorm, rotary, silu } from '../graph/operators/fused.ts';
export { gatherEach, gatherLast, gatherLogSoftmax, gatherRows } from '../graph/operators/gather.ts';
export { cast, equal, greater, less, stopGradient, where } from '../graph/operators/logic.ts';
export { type MatmulOptions, matmul } from '../graph/operators/matrix.ts';
export { logSoftmax, max, mean, softmax, sum } from '../graph/operators/reduce.ts';
export { segmentSum } from '../graph/operators/segment.ts';
export { broadcastTo, concat, reshape, slice, transpose } from '../graph/operators/shape.ts';
export { absolute, erf, exp, log, sigmoid, sign, sqrt, square, tanh } from '../graph/operators/unary.ts';
export type { Dim, DType, Tensor } from '../graph/tensor.ts';
