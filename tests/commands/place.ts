/** A folder in which the commands of the pages can run: the files that they name, small models, and a home. */

import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { blockOf } from './shown.ts';

const root = new URL('../..', import.meta.url).pathname;
const COMMIT = '0123456789abcdef0123456789abcdef01234567';

export interface CommandPlace {
  readonly folder: string;
  /** Of the process, while commands run here. */
  readonly environment: Readonly<Record<string, string>>;
  remove(): void;
}

export function makePlace(): CommandPlace {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnwise-pages-')));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  modules(folder);
  for (const [name, text] of Object.entries(filesOfPages())) write(name, text);
  for (const name of ['examples', 'bench']) symlinkSync(join(root, name), join(folder, name));
  for (const name of ['note-desk.ts', 'note-desk.jsonl'])
    cpSync(join(root, 'examples', name), join(folder, name));
  models(folder, write);
  for (const [name, text] of Object.entries(ENGINE)) write(`bin/${name}`, text);
  chmodSync(join(folder, 'bin/stockfish'), 0o755);
  const home = join(folder, 'home');
  return {
    folder,
    environment: {
      HOME: home,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HF_HOME: join(home, 'hf'),
      HF_HUB_OFFLINE: '1',
      OPENAI_API_KEY: 'sk-nobody',
      TINKER_API_KEY: 'tml-pages',
      WANDB_MODE: 'offline',
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** `node_modules` as after `npm install`, with this clone as the package. */
function modules(folder: string): void {
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== 'turnwise')
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  symlinkSync(root, join(folder, 'node_modules', 'turnwise'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
}

/** What the page shows of a team, with the rest of it. */
const TEAM = `
  import { defineAgent } from 'turnwise';

  export const agent = defineAgent({
    name: 'team',
    tasks: (split) => (split === 'train' ? [1, 2, 3, 4] : [5, 6]),
    roles: ['planner', 'worker'],
    async run({ task, baseURL, apiKey }) {
      const headers = { authorization: 'Bearer ' + apiKey, 'content-type': 'application/json' };
      const ask = async (model, content) => {
        const body = JSON.stringify({ model, messages: [{ role: 'user', content }] });
        const answer = await fetch(baseURL + '/chat/completions', { method: 'POST', headers, body });
        return (await answer.json()).choices[0].message.content ?? '';
      };
      const plan = await ask('planner', 'say ' + task);
      return { reward: (await ask('worker', plan)).includes(String(task)) ? 1 : 0 };
    },
  });
`;

/** A chess engine as readers may have installed one: it plays the first legal move. */
const ENGINE: Readonly<Record<string, string>> = {
  stockfish: '#!/bin/sh\nexec node "$(dirname "$0")/engine.mjs"\n',
  'engine.mjs': `
    import { createInterface } from 'node:readline';
    import { Chess } from 'chess.js';
    let fen = '';
    for await (const line of createInterface({ input: process.stdin })) {
      if (line === 'uci') console.log('uciok');
      if (line === 'isready') console.log('readyok');
      if (line.startsWith('position fen ')) fen = line.slice('position fen '.length);
      if (line.startsWith('go ')) console.log('bestmove ' + new Chess(fen).moves({ verbose: true })[0].lan);
    }
  `,
};

/** What readers write down from the pages, and what pages suppose that they have. */
function filesOfPages(): Record<string, string> {
  const method = (name: string): string => readFileSync(join(root, 'tests/package/methods', name), 'utf8');
  return {
    'agent.ts': blockOf('docs/train-your-agent.md', 'ts', '// agent.ts'),
    'best.ts': blockOf('docs/write-a-recipe.md', 'ts', '// best.ts'),
    'treasure.ts': blockOf('docs/write-an-environment.md', 'ts', '// treasure.ts'),
    'answers.ts': blockOf('docs/write-an-environment.md', 'ts', '// answers.ts'),
    'team.ts': TEAM,
    'reward.ts': blockOf('docs/write-an-environment.md', 'ts', 'export const score ='),
    'my-environment.ts': blockOf('docs/write-an-environment.md', 'ts', '// treasure.ts'),
    'league.ts': blockOf('docs/players.md', 'ts', 'export const league'),
    'peers.ts': blockOf('docs/players.md', 'ts', 'defineLeague'),
    'centred.ts': method('centred.ts'),
    'notes.ts': method('opening.ts'),
    'my-agent.js': `
      const { readFileSync, writeFileSync } = await import('node:fs');
      const { word } = JSON.parse(readFileSync(process.env.TURNWISE_TASK_FILE, 'utf8'));
      const headers = { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' };
      const body = JSON.stringify({ model: process.env.OPENAI_MODEL, messages: [{ role: 'user', content: 'say ' + word }] });
      const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body });
      const said = (await response.json()).choices[0].message.content;
      writeFileSync('said.txt', said ?? '');
    `,
    'check.js': `
      const { readFileSync } = await import('node:fs');
      const { word } = JSON.parse(readFileSync('task.json', 'utf8'));
      process.exit(readFileSync('said.txt', 'utf8').trim() === word ? 0 : 1);
    `,
    'tasks.jsonl': [1, 2, 3, 4, 5, 6].map((number) => `{"word":"2","number":${number}}\n`).join(''),
    'recorded.jsonl': '{"task": 0, "actions": ["get 6 glass", "craft 16 glass pane using 6 glass"]}\n',
  };
}

/** Small models with random weights under every name that a page gives one. */
function models(folder: string, write: (name: string, text: string) => void): void {
  const made = join(folder, 'my-model');
  cpSync(join(root, 'tests/hf-parity/qwen3/bf16'), made, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(root, 'tests/hf-parity/tokenizer-qwen', file), join(made, file));
  const config = JSON.parse(readFileSync(join(made, 'config.json'), 'utf8')) as object;
  write('my-model/config.json', JSON.stringify({ ...config, max_position_embeddings: 4096 }));
  for (const name of ['folder', 'checkpoint', 'Qwen3-0.6B', 'SmolLM2-135M-Instruct'])
    symlinkSync(made, join(folder, name));

  for (const name of ['Qwen/Qwen3-0.6B', 'Qwen/Qwen3-4B-Instruct-2507']) {
    const cached = `home/hf/hub/models--${name.replace('/', '--')}`;
    write(`${cached}/refs/main`, COMMIT);
    write(`${cached}/refs/COMMIT`, COMMIT);
    mkdirSync(join(folder, cached, 'snapshots'), { recursive: true });
    symlinkSync(made, join(folder, cached, 'snapshots', COMMIT));
  }
}

/** A GGUF file under every name that a page gives one, in the folders of Ollama and LM Studio, too. */
export function placeGguf(folder: string, gguf: string): void {
  const place = (...path: readonly string[]): string => {
    const whole = join(folder, ...path);
    mkdirSync(dirname(whole), { recursive: true });
    return whole;
  };
  for (const name of ['Qwen3-0.6B-Q8_0.gguf', 'SmolLM2-135M-Instruct.Q4_1.gguf']) cpSync(gguf, place(name));
  cpSync(gguf, place('home/.lmstudio/models/PUBLISHER/REPOSITORY/small.gguf'));
  const digest = 'ab'.repeat(32);
  const layer = { mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}`, size: 1 };
  const manifest = JSON.stringify({ schemaVersion: 2, config: layer, layers: [layer] });
  writeFileSync(place('home/.ollama/models/manifests/registry.ollama.ai/library/qwen3/0.6b'), manifest);
  cpSync(gguf, place(`home/.ollama/models/blobs/sha256-${digest}`));
}
