/**
 * Our client against a Tinker server that is not ours: finds out how it scales losses, then raises a reward on it.
 *
 *   node dist/tools/interop/skyrl-loop.js http://127.0.0.1:8000 BASE-MODEL
 *
 * Meant for a tiny byte-level model (vocabulary 264): prompts are bytes, and even ids are rewarded.
 */

import { createTinkerEngine } from '../../src/engine/tinker/create-tinker-engine.ts';
import { batchOf, type TokenRow } from '../../src/engine/token-batch.ts';
import { countedTargets, policyMeans } from '../../src/objective/contract/policy-means.ts';
import { ppoClip } from '../../src/objective/policy-gradient/ppo-clip.ts';
import { sampleAll } from '../../src/policy/sampler.ts';

const [baseUrl, baseModel] = process.argv.slice(2);
const prompt = [72, 101, 108, 108, 111, 44, 32];
const samples = 32;
const sampledTokens = 16;

const began = performance.now();
const engine = await createTinkerEngine({
  baseUrl: baseUrl!,
  baseModel: baseModel!,
  apiKey: process.env.TINKER_API_KEY ?? 'tml-any',
  loraRank: 8,
  seed: 3,
  vocabulary: 264,
  contextLength: 128,
});
const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(2);
process.stdout.write(`ready in ${seconds(began)} s; losses: ${engine.lossScale}\n`);
let gap = 0;
for (let step = 0; step < 12; step++) {
  const from = performance.now();
  const results = await sampleAll(
    engine,
    Array.from({ length: samples }, (_, index) => ({
      conversation: `${index}`,
      keep: 0,
      append: Int32Array.from(prompt),
      sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: sampledTokens },
      stopIds: [],
      seed: `${step}/${index}`,
    })),
  );
  const rewards = results.map(({ ids }) => ids.filter((id) => id % 2 === 0).length / ids.length);
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / samples;
  const rows = results.map(({ ids, logprobs }, index): TokenRow => {
    const spread = (values: (t: number) => number): Float32Array =>
      Float32Array.from({ length: prompt.length + ids.length }, (_, t) =>
        t < prompt.length ? 0 : values(t - prompt.length),
      );
    return {
      ids_T: Int32Array.of(...prompt, ...ids),
      channels: {
        weight: spread(() => 1 / (samples * sampledTokens)),
        advantages: spread(() => (rewards[index]! - mean) / 0.15),
        oldLogprobs: spread((t) => logprobs[t]!),
      },
    };
  });
  const scored = await engine.score({ rows }, { temperature: 1 });
  for (const [row, { channels }] of rows.entries())
    for (const [t, logprob] of channels.oldLogprobs!.entries())
      if (t >= prompt.length) gap = Math.max(gap, Math.abs(scored.logprobs[row]![t]! - logprob));
  const { loss, metrics } = await engine.forwardBackward(batchOf(rows), ppoClip(), { temperature: 1 });
  const { gradientNorm } = await engine.optimStep({
    learningRate: 0.02,
    beta1: 0.9,
    beta2: 0.95,
    epsilon: 1e-8,
    weightDecay: 0,
    clipNorm: 0,
  });
  await engine.publish();
  process.stdout.write(
    `step ${step + 1}: reward ${mean.toFixed(3)}, loss ${loss.toFixed(4)}, gradient norm ${gradientNorm.toFixed(4)}, ` +
      `ratio ${policyMeans(metrics, countedTargets(batchOf(rows).targets))['policy/ratio']!.toFixed(4)}, ${seconds(from)} s\n`,
  );
}
process.stdout.write(`largest difference between sampler and trainer: ${gap.toExponential(1)}\n`);
await engine.close();
