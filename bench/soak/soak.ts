/** Whether everything holds for long: `npm run bench -- soak [MINUTES] [training|servers|disturbed …]`. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { disturbedRuns } from './disturbed.ts';
import { soakServers } from './servers.ts';
import { soakTraining } from './training.ts';

const MINUTES = 10;
const REQUESTS_A_MINUTE = 1000;

/** All parts, or those named; 10 minutes of training, or as many as are asked for, and 1,000 requests a server for each of them. */
export async function benchSoak(words: readonly string[]): Promise<object> {
  const minutes = Number(words.find((word) => Number(word) > 0) ?? MINUTES);
  const named = words.filter((word) => !(Number(word) > 0));
  const wants = (part: string): boolean => named.length === 0 || named.includes(part);
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-soak-'));
  try {
    // The gateway serves the run that was trained.
    const training =
      wants('training') || wants('servers')
        ? { training: await soakTraining(folder, wants('training') ? minutes : 0.5) }
        : {};
    return {
      ...training,
      ...(wants('servers') && {
        servers: await soakServers(folder, 'soaked', REQUESTS_A_MINUTE * minutes),
      }),
      ...(wants('disturbed') && { disturbed: await disturbedRuns(folder) }),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
