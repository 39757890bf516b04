/** What work comes to, as the API writes it. */

import { encodeForwardBackwardOutput, encodeSampleOutput } from '../../wire/tinker/protobuf.ts';
import type { ForwardBackwardOutput, SampleOutput } from '../../wire/tinker/shapes.ts';
import type { Result } from './futures.ts';

export function pending(requestId: string): { future_id: string; request_id: string; status: string } {
  return { future_id: requestId, status: 'pending', request_id: requestId };
}

/** Samples have names from the start; SDKs since 0.38 insist on them. */
export function samplesPending(requestId: string, count: number): object {
  const names = Array.from({ length: count }, (_, index) => `${requestId}:${index}`);
  return { ...pending(requestId), sample_sequence_ids: names };
}

export function passResult(output: ForwardBackwardOutput): Result {
  const tensor = (data: Float32Array): object => ({
    data: [...data],
    dtype: 'float32',
    shape: [data.length],
  });
  return {
    json: {
      loss_fn_output_type: 'scalar',
      loss_fn_outputs: output.outputs.map((fields) =>
        Object.fromEntries(Object.entries(fields).map(([name, data]) => [name, tensor(data)])),
      ),
      metrics: output.metrics,
    },
    protobuf: () => encodeForwardBackwardOutput(output),
  };
}

export function sampleResult(output: SampleOutput): Result {
  return {
    json: {
      sequences: output.sequences.map(({ tokens, logprobs, finish }) => ({
        stop_reason: finish,
        tokens,
        logprobs,
      })),
      prompt_logprobs: output.promptLogprobs ?? null,
      topk_prompt_logprobs: null,
      type: 'sample',
    },
    protobuf: () => encodeSampleOutput(output),
  };
}
