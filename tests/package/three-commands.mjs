// From an empty folder with the installed package: an agent is recorded on a model elsewhere, which fails halfway, says nothing
// usable and is slow; then a model of its own imitates the file, and is reinforced. Run it with: node three-commands.mjs
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

writeFileSync(
  'echo.ts',
  `import { defineAgent } from 'turnwise';

const words = ['red', 'green', 'blue', 'black', 'white', 'brown'];
export const agent = defineAgent<{ word: string }>({
  name: 'echo',
  maxCalls: 2,
  tasks: () => words.map((word) => ({ word })),
  async run({ task, baseURL, apiKey, model, signal }) {
    const response = await fetch(baseURL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'say ' + task.word }] }),
      signal,
    });
    if (!response.ok) throw new Error(await response.text());
    const { choices } = await response.json();
    return { reward: choices[0].message.content === task.word ? 1 : 0 };
  },
});
`,
);

let asked = 0;
/** What the endpoint does with its nth call. */
let behaviour = () => 'answer';
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += String(part);
  const what = behaviour(++asked);
  if (what === 'gone') {
    request.socket.destroy();
    return;
  }
  if (what === 'slow') await new Promise((done) => setTimeout(done, 2000));
  const content = JSON.parse(text).messages.at(-1).content.replace('say ', '');
  const choices = [{ message: { role: 'assistant', content }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 10, completion_tokens: 2 };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(what === 'nonsense' ? '<html>busy' : JSON.stringify({ choices, usage }));
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const policy = `openai:http://127.0.0.1:${server.address().port}/v1#gpt`;

/** @returns its status */
async function turnwise(...line) {
  console.log(`turnwise ${line.join(' ')}`);
  const child = spawn('npx', ['turnwise', ...line], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  return new Promise((done) => child.on('exit', done));
}
const recorded = () =>
  existsSync('gpt.jsonl')
    ? readFileSync('gpt.jsonl', 'utf8')
        .trim()
        .split('\n')
        .filter((line) => JSON.parse(line).source.stop === 'done').length
    : 0;

const record = ['eval', './echo.ts', '--policy', policy, '--record', 'gpt.jsonl', '--tasks', '6'];
const careful = [...record, '--concurrency', '1', '--timeout-ms', '1000'];
behaviour = (call) => (call > 2 ? 'gone' : 'answer');
await turnwise(...careful);
assert.equal(recorded(), 2, 'what was recorded before the endpoint stopped is in the file');

asked = 0;
behaviour = (call) => (call > 2 ? 'nonsense' : 'slow');
await turnwise(...careful);
assert.equal(recorded(), 4, 'a slow endpoint is waited for, and nonsense loses nothing');

asked = 0;
behaviour = () => 'answer';
assert.equal(await turnwise(...record, '--max-calls', '10', '--price', '1,2'), 0);
assert.deepEqual([recorded(), asked], [6, 2], 'only what the file does not have is asked for');
assert.equal(await turnwise('data', 'check', 'gpt.jsonl'), 0);

const small = ['threads=1', 'model.width=32', 'model.layers=1', 'clone.steps=20', 'clone.batch=8']
  .concat(['steps=2', 'rollout.tasks=3', 'rollout.group=2', 'evaluation.every=0', 'evaluation.finalTasks=6'])
  .flatMap((setting) => ['--set', setting]);
const train = ['train', './echo.ts', ...small];
assert.notEqual(await turnwise(...train), 0, 'an agent without a teacher needs the file');
assert.equal(await turnwise(...train, '--set', 'data=gpt.jsonl', '--name', 'own'), 0);
assert.equal(await turnwise(...train, '--set', 'start=own@last', '--name', 'further'), 0);
assert.equal(await turnwise('eval', 'further', '--tasks', '6'), 0);
server.closeAllConnections();
server.close();
console.log('recorded, imitated and reinforced');
