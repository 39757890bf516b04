/**
 * Asks a model one question, greedily, and fails where the answer lacks a word.
 *
 * usage: node tools/gguf/answer.mjs MODEL QUESTION WORD  (after npm run build)
 */

import {
  chatRenderer,
  createEmbeddedEngine,
  idsOfPrompt,
  loadPretrainedLanguage,
  openCheckpoint,
  promptAfter,
} from '../../dist/src/exports/engine.js';

const [path, question, word] = process.argv.slice(2);
const model = await openCheckpoint(path, { contextLength: 256 });
const language = await loadPretrainedLanguage(path, model.shape.vocabulary);
const renderer = chatRenderer(language, { maxTurnTokens: 32 });
const prompt = promptAfter([], [{ role: 'user', content: question }], renderer);
const engine = await createEmbeddedEngine({
  model,
  lora: { rank: 1 },
  seed: 0,
  threads: 2,
  tokenBudget: 256,
});
const answer = await engine.sample({
  conversation: 'question',
  keep: 0,
  append: idsOfPrompt(prompt),
  sampling: { temperature: 0, topP: 1, topK: 0, maxTokens: 32 },
  stopIds: renderer.stopIds,
  seed: 'question',
});
await engine.close();
const text = renderer.text(answer.ids);
process.stdout.write(`${question}\n${text}\n`);
if (!text.includes(word)) process.exitCode = 1;
