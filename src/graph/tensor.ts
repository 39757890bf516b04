/** Symbolic tensors: nodes of a graph that is later differentiated and written as ONNX. Replaced by the graph work. */
export interface Tensor {
  readonly id: number;
}
