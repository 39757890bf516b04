/** A command of a page as a test runs it: the same words, with less to do and with the servers that there are. */

import type { StandIns } from './stand-ins.ts';

/** Costs of a run, always: what a command sets of them is replaced. */
const COSTS = {
  steps: '1',
  threads: '1',
  'clone.demonstrations': '16',
  'clone.steps': '1',
  'clone.batch': '4',
  'evaluation.every': '0',
  'evaluation.finalTasks': '2',
  'rollout.tasks': '2',
};
/** Unless the command sets them. */
const SIZES = { 'rollout.group': '2', 'rollout.maxTurns': '4' };
const OF_WORD_MODELS = { 'model.width': '16', 'model.layers': '1', 'model.heads': '2', 'model.hidden': '32' };
const OF_CHECKPOINTS = { 'chat.maxTurnTokens': '4', 'lora.rank': '4' };

/** Settings that make a run short, each of which may be one that its recipe does not read. */
export function shortening(words: readonly string[]): string[] {
  const given = new Set(
    words.flatMap((word, at) => (words[at - 1] === '--set' ? [word.split('=')[0]!] : [])),
  );
  const { steps, ...rest } = COSTS;
  const stages = words.find((word) => word.startsWith('stages='))?.slice('stages='.length);
  const isPretrained = words.includes('--model') || words.includes('--lora-rank');
  const model = isPretrained ? OF_CHECKPOINTS : OF_WORD_MODELS;
  // A pretrained model imitates no teacher of an agent, but what was recorded of one.
  const isAgent = words.includes('--command') || /agent/.test(words[1] ?? '');
  const imitates = !isPretrained || !isAgent || given.has('data');
  const others = Object.fromEntries(
    Object.entries(rest).filter(([key]) => imitates || !key.startsWith('clone.')),
  );
  const sizes = {
    steps: stages === undefined ? steps : String(stepsOf(JSON.parse(stages))),
    ...(words.includes('tinker') ? {} : model),
    ...SIZES,
  };
  return Object.entries({ ...others, ...sizes }).flatMap(([key, value]) =>
    key in SIZES && given.has(key) ? [] : [`${key}=${value}`],
  );
}

type Stages = readonly { readonly until?: number | { readonly steps: number } }[];

/** Steps through all stages, and one of the last, which has no end. */
function stepsOf(stages: Stages): number {
  return stages.reduce((at, { until }) => (typeof until === 'number' ? until : at + (until?.steps ?? 1)), 0);
}

/** Addresses of the pages as those of the servers that stand in. */
export function rewired(
  text: string,
  { chat, clerk, environment, agentGym, tinker, tinkerCheckpoint }: StandIns,
): string {
  const server = / --(lora-rank|engine tinker .*--base-model Qwen)/.test(text) ? tinkerCheckpoint : tinker;
  if (text.includes('--engine tinker'))
    return text
      .replace(/--base-url \S+/, `--base-url ${server}`)
      .replace(/--base-model \S+/, `--base-model ${server === tinker ? 'small' : 'Qwen/Qwen3-0.6B'}`);
  if (/ (env serve|serve|gateway) (?!--help)/.test(text))
    return `${text.replace(/ --port \d+/, '')} --port 0`;
  return text
    .replaceAll(/http:\/\/localhost:8000/g, chat)
    .replaceAll('http://127.0.0.1:8123/v1', clerk)
    .replaceAll('openai:URL#', `openai:${chat}/v1#`)
    .replaceAll('http://localhost:4318', chat)
    .replaceAll('http://127.0.0.1:36001', agentGym)
    .replaceAll(/(127\.0\.0\.1|localhost):(8000|8700)/g, environment);
}

/**
 * What pages write for something of the reader's. A gateway serves the run of an agent, a run that goes on is not finished,
 * and the run of 40 steps has two here.
 */
export function filledIn(text: string): string {
  return text
    .replaceAll('ENVIRONMENT', 'frozen-lake')
    .replaceAll('gateway RUN', 'gateway AGENT')
    .replaceAll('resume frozen-lake-rloo-1', 'resume STOPPED')
    .replaceAll('kuhn-poker-1@40', 'kuhn-poker-1@2');
}

/** The words of a command with less to do: fewer tasks and seeds, a smaller budget; a claim is planned instead of run for hours. */
export function shorterWords(words: readonly string[]): string[] {
  const [name] = words;
  const without = (flag: string, ...more: readonly string[]): string[] =>
    words.includes(flag) ? [...words] : [...words, ...more];
  if (name === 'eval')
    return without('--tasks', '--tasks', '2').map((word) => (/^\d+$/.test(word) ? '2' : word));
  if (name !== 'compare') return [...words];
  if (words.includes('--claim')) return words.includes('--report') ? [...words] : without('--plan', '--plan');
  return words.map((word, at) => {
    if (words[at - 1] === '--seeds') return '1';
    if (words[at - 1] === '--budget' && !words.includes('--plan')) return 'steps=1';
    return word;
  });
}
