/**
 * What the embedded engine gives for a text with a model, as JSON: ids of the text by the model's own tokenizer, the
 * log-probability of each given those before, and of a few tokens in the place of the last. For check_export.py.
 *
 * usage: node tools/gguf/logprobs.mjs MODEL TEXT  (after npm run build)
 */

import {
  createEmbeddedEngine,
  loadPretrainedLanguage,
  openCheckpoint,
} from '../../dist/src/exports/engine.js';

const [path, text] = process.argv.slice(2);
const model = await openCheckpoint(path, { contextLength: 128 });
const { tokenizer, template, stopIds } = await loadPretrainedLanguage(path, model.shape.vocabulary);
const ids = tokenizer.encode(text).slice(0, 100);
const others = Array.from({ length: 64 }, (_, index) => (index * 769 + 11) % model.shape.vocabulary);
const engine = await createEmbeddedEngine({
  model,
  lora: { rank: 1 },
  seed: 0,
  threads: 1,
  tokenBudget: 512,
});
const rows = [ids, ...others.map((other) => [...ids.slice(0, -1), other])];
const { logprobs } = await engine.score(
  { rows: rows.map((row) => ({ ids_T: Int32Array.from(row), channels: {} })) },
  { temperature: 1 },
);
await engine.close();
const chat = template.render([{ role: 'user', content: 'Hello' }], { addGenerationPrompt: true });
process.stdout.write(
  JSON.stringify({
    ids,
    logprobs: [...logprobs[0]].slice(1),
    others,
    lastOfOthers: logprobs.slice(1).map((row) => row.at(-1)),
    chat,
    stopIds,
  }),
);
