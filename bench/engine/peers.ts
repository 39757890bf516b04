/** Other engines that are measured in the same run, where their Python packages are installed. */

import { execFileSync } from 'node:child_process';

/** `TURNWISE_PYTHON` names another interpreter, of a virtual environment for example. */
const python = process.env.TURNWISE_PYTHON ?? 'python3';

export interface Peer {
  readonly tokensPerSecond: number;
  readonly version: string;
  readonly peakResidentMegabytes: number;
  /** Of training steps. */
  readonly medianMs?: number;
}

const has = (name: string): boolean => {
  try {
    execFileSync(python, ['-c', `import ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

export const hasPytorch = has('torch');
/** llama.cpp in the package that PyPI has built. */
export const hasLlama = has('xllamacpp');

export const pytorch = (request: object): Peer => ask('bench/engine/pytorch.py', request);

/** Its log is long, and nothing of it is an error. */
export const llama = (request: object): Peer => ask('bench/engine/llama_cpp.py', request, 'ignore');

function ask(script: string, request: object, log: 'inherit' | 'ignore' = 'inherit'): Peer {
  const answer = execFileSync(python, [script, JSON.stringify(request)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', log],
  });
  return JSON.parse(answer.slice(answer.lastIndexOf('{"'))) as Peer;
}
