/** LoRA steps on groups whose members share their prompt: row by row, and what they share computed once, in turns. */

import { Rng } from '../../src/core/rng.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import type { TokenBatch } from '../../src/engine/engine.ts';
import { batchOf } from '../../src/engine/token-batch.ts';
import type { DecoderShape } from '../../src/model/decoder/decoder.ts';
import { crossEntropy } from '../../src/objective/imitation/cross-entropy.ts';
import { hasPytorch, pytorch } from './peers.ts';
import { median } from './sampling.ts';
import { large, small, smol } from './shapes.ts';

export interface TreeBench {
  readonly tokens: number;
  /** Computed when shared ones are computed once. */
  readonly distinctTokens: number;
  readonly rowsMs: number;
  readonly treesMs: number;
  /** Median over the pairs. */
  readonly ratio: number;
  /** Whether the engine would choose trees by itself. */
  readonly chosen: boolean;
  /** Of the losses of both, relative. */
  readonly difference: number;
  /** Of PyTorch with the output layer on answers only, and how many times as long it takes as the trees. */
  readonly pytorch?: Readonly<Record<string, { readonly ms: number; readonly ratio: number }>>;
}

const members = 8;
const answer = 40;
const optimizer = { learningRate: 0, beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 };

/** Members that go on from one prompt; with `branches` two by two from one answer's middle, too. */
function group(vocabulary: number, prompt: number, branches: boolean): TokenBatch {
  const rng = Rng.of('group', prompt);
  const draw = (length: number): number[] => Array.from({ length }, () => rng.int(vocabulary));
  const start = draw(prompt);
  let trunk: number[] = [];
  return batchOf(
    Array.from({ length: members }, (_, member) => {
      if (branches && member % 2 === 0) trunk = draw(answer / 2);
      const own = branches ? [...trunk, ...draw(answer / 2)] : draw(answer);
      const weight = new Float32Array(prompt + answer).fill(1 / (members * answer), prompt);
      return { ids_T: Int32Array.from([...start, ...own]), channels: { weight } };
    }),
  );
}

async function compare(
  shape: DecoderShape,
  batch: TokenBatch,
  threads: number,
  pairs: number,
  /** Tokens of the prompt, where PyTorch is asked too. */
  peerPrompt: number | undefined,
): Promise<TreeBench> {
  const engine = (sharedPrefixes: 'auto' | 'always' | 'never'): Promise<EmbeddedEngine> =>
    createEmbeddedEngine({
      shape,
      lora: { rank: 16 },
      seed: 'bench',
      threads,
      // Two engines of 0.6B and what eight rows at once keep for their gradients would not fit into 24 GB.
      tokenBudget: shape === large ? 640 : 4096,
      sharedPrefixes,
    });
  const step = async (of: EmbeddedEngine) => {
    const start = performance.now();
    const result = await of.forwardBackward(batch, crossEntropy(), { temperature: 1 });
    await of.optimStep(optimizer);
    return { ...result, ms: performance.now() - start };
  };
  const [rows, trees] = [await engine('never'), await engine('always')];
  const timings: { rows: number; trees: number; peers: number[] }[] = [];
  let [byRows, byTrees] = [await step(rows), await step(trees)];
  for (let pair = 0; pair < pairs; pair++) {
    [byRows, byTrees] = [await step(rows), await step(trees)];
    const peers =
      peerPrompt === undefined ? [] : dtypes.map((dtype) => peerMs(shape, dtype, peerPrompt, threads));
    timings.push({ rows: byRows.ms, trees: byTrees.ms, peers });
  }
  await rows.close();
  await trees.close();
  const auto = await engine('auto');
  const chosen = (await step(auto)).paddedTokens === byTrees.paddedTokens;
  await auto.close();
  return {
    tokens: byRows.paddedTokens,
    distinctTokens: byTrees.paddedTokens,
    rowsMs: Math.round(median(timings.map((timing) => timing.rows))),
    treesMs: Math.round(median(timings.map((timing) => timing.trees))),
    ratio: Number(median(timings.map((timing) => timing.rows / timing.trees)).toFixed(2)),
    chosen,
    difference: Math.abs(byTrees.loss / byRows.loss - 1),
    ...(hasPytorch &&
      peerPrompt !== undefined && {
        pytorch: Object.fromEntries(
          dtypes.map((dtype, index) => [
            dtype,
            {
              ms: Math.round(median(timings.map(({ peers }) => peers[index]!))),
              ratio: Number(median(timings.map(({ peers, trees }) => peers[index]! / trees)).toFixed(2)),
            },
          ]),
        ),
      }),
  };
}

const dtypes = ['float32', 'bfloat16'] as const;

/** Milliseconds of the same step in PyTorch: every row for itself, logits of answers only. */
function peerMs(
  shape: DecoderShape,
  dtype: (typeof dtypes)[number],
  prompt: number,
  threads: number,
): number {
  if (!hasPytorch) return Number.NaN;
  const tokens = prompt + answer - 1;
  const work = { task: 'lora', shape, rank: 16, rows: members, tokens, prompt: prompt - 1 };
  return pytorch({ ...work, dtype, threads, steps: 2, warmUpSteps: 1 }).medianMs!;
}

/** Groups of eight with answers of 40 tokens, by the length of their prompts; of the sizes in TURNWISE_BENCH_SIZES, or all. */
export async function benchTrees(threads: number): Promise<Record<string, TreeBench>> {
  const results: Record<string, TreeBench> = {};
  const wanted = process.env.TURNWISE_BENCH_SIZES?.split(',');
  for (const [name, shape, prompts, pairs] of [
    ['3.4M', small, [10, 100, 300], 3],
    ['135M', smol, [20, 100, 300], 3],
    ['0.6B', large, [300], 1],
  ] as const) {
    if (wanted && !wanted.includes(name)) continue;
    for (const prompt of prompts)
      for (const branches of prompt === 100 ? [false, true] : [false]) {
        const work = `${name}, prompt of ${prompt}${branches ? ', branches' : ''}`;
        const batch = group(shape.vocabulary, prompt, branches);
        results[work] = await compare(
          shape,
          batch,
          threads,
          pairs,
          shape === smol && !branches ? prompt : undefined,
        );
        process.stderr.write(`${work}: ${JSON.stringify(results[work])}\n`);
      }
  }
  return results;
}
