/** What the Tinker API speaks of, as this project holds it: the same whether it travels as JSON or as protobuf. */

/** One training sequence. Every input is aligned with `tokens`: position t speaks of the token after token t. */
export interface Datum {
  readonly tokens: Int32Array;
  readonly inputs: Readonly<Record<string, NumberArray>>;
}

export type NumberArray = Float32Array | Int32Array;

/** Whether a tensor of this shape has one number for each token: `[T]`, or `[T, 1]` as clients write one target for each. */
export function isOneColumn(shape: readonly number[]): boolean {
  return shape.slice(1).every((length) => length === 1);
}

export interface ForwardBackwardRequest {
  readonly modelId: string;
  /** Undefined: in order of arrival. */
  readonly seqId?: number;
  readonly data: readonly Datum[];
  readonly lossName: string;
  readonly lossConfig: Readonly<Record<string, number | string>>;
  readonly forwardOnly: boolean;
}

export interface ForwardBackwardOutput {
  /** By name (`logprobs`, `elementwise_loss`), for each datum. Not-a-number where the server could not say. */
  readonly outputs: readonly Readonly<Record<string, Float32Array>>[];
  readonly metrics: Readonly<Record<string, number>>;
}

export interface SampledSequence {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly finish: 'stop' | 'length';
}

export interface SampleOutput {
  readonly sequences: readonly SampledSequence[];
  /** One per token of the prompt; null for the first, which nothing precedes. */
  readonly promptLogprobs?: readonly (number | null)[];
}

export const PROTOBUF = 'application/x-protobuf';
