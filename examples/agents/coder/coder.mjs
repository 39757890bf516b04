/**
 * A small coding agent as a program of its own: it asks a model for the body of a function, runs what it is given, shows the
 * model what came out, and stops when the model has nothing more to call.
 */

import { readFileSync, writeFileSync } from 'node:fs';

const { OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL, TURNWISE_TASK_FILE } = process.env;
const { ask, cases } = JSON.parse(readFileSync(TURNWISE_TASK_FILE, 'utf8'));

const tools = [
  {
    type: 'function',
    function: {
      name: 'write',
      description: 'Writes the body of f(a, b) and runs it on an example.',
      parameters: { type: 'object', properties: { body: { type: 'string' } }, required: ['body'] },
    },
  },
];

async function complete(messages) {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPENAI_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: OPENAI_MODEL, messages, tools }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { choices } = await response.json();
  return choices[0].message;
}

/** The model learns what one example gives; the others are for the check. */
async function tried(body, round) {
  writeFileSync('f.mjs', `export const f = (a, b) => ${body};\n`);
  const [[a, b, wanted]] = cases;
  try {
    // A module that was imported stays as it was.
    const { f } = await import(`file://${process.cwd()}/f.mjs?${round}`);
    const seen = f(a, b);
    return seen === wanted ? 'works' : 'wrong';
  } catch {
    return 'broken';
  }
}

const messages = [{ role: 'user', content: `write ${ask}` }];
for (let round = 0; round < 3; round++) {
  const message = await complete(messages);
  messages.push(message);
  const [call] = message.tool_calls ?? [];
  if (call === undefined) break;
  const { body } = JSON.parse(call.function.arguments);
  messages.push({ role: 'tool', tool_call_id: call.id, content: await tried(body, round) });
}
