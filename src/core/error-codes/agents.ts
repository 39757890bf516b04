import type { ErrorTable } from './error-table.ts';

export const agents = {
  'agent-invalid': {
    meaning: 'A part of `defineAgent`, or the info that `run` returned, cannot be used.',
    remedy: 'The message names it; see docs/train-your-agent.md.',
  },
  'agent-plays-itself': {
    meaning: 'An agent was to be stepped from outside, as by `turnwise play`.',
    remedy: 'Train or evaluate it; its own code plays.',
  },
  'file-unknown': {
    meaning: 'There is no such file.',
    remedy: 'Check the path.',
    exit: 2,
  },
  'file-unusable': {
    meaning: 'A file cannot be loaded, or does not export exactly one world, method, loss or context.',
    remedy: 'The message says which.',
  },
  'nothing-measured': {
    meaning: 'Every episode of an evaluation failed, timed out or was cancelled.',
    remedy: 'The message names the commonest failure.',
  },
  'policy-missing': {
    meaning: 'The command line names no policy for the agent.',
    remedy: 'Name a run of an agent, or a server with `--policy`.',
    exit: 2,
  },
  'policy-unknown': {
    meaning: '`--policy` does not name a server.',
    remedy: 'Write `openai:URL#MODEL` or `vllm:URL#MODEL`.',
    exit: 2,
  },
  'port-unusable': {
    meaning: 'The gateway cannot listen at this address.',
    remedy: 'Choose another port, or leave it out.',
  },
  'spend-limit': {
    meaning:
      'Models elsewhere were asked as often, or for as many tokens, as `--max-calls` and `--max-tokens` allow.',
    remedy: 'Everything played is kept; the same command with a higher limit goes on from there.',
  },
  'upstream-failed': {
    meaning:
      'The server behind the gateway failed or gave an unusable answer. The episode fails; the run continues.',
    remedy: 'Check its URL, key and model name.',
  },
} satisfies ErrorTable;
