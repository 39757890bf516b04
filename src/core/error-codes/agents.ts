import type { ErrorTable } from './error-table.ts';

export const agents = {
  'agent-invalid': {
    meaning: 'A part of `defineAgent`, or the info that `run` returned, cannot be used.',
    remedy: 'The message names it; see docs/train-your-agent.md.',
  },
  'agent-plays-itself': {
    meaning: 'An agent was to be stepped from outside, as by `turnwise env serve`.',
    remedy: 'Train, evaluate or watch it; its own code plays.',
  },
  'agent-reward': {
    meaning:
      'A reward along the way is no finite number, names a call that the episode does not have, or came after its end.',
    remedy:
      'Pass the id of an answer of this episode, before `run` returns. The episode fails as one of the agent.',
  },
  'check-failed': {
    meaning:
      'The check of a command-line agent ended with a status other than 0 and 1, or printed no usable result.',
    remedy: 'The episode is left out. Run the check by hand in a folder with the files of the episode.',
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
  'judge-failed': {
    meaning: 'A judge could not be asked about a group of episodes, or gave no ranking of them.',
    remedy:
      'The episodes of the group are left out. Check the address of the model, its key and the criterion.',
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
  'user-failed': {
    meaning:
      'The script or the model that plays a simulated user failed. The episode ends as `failed:environment`.',
    remedy: 'Check the script, or the URL, key and name of the model.',
  },
} satisfies ErrorTable;
