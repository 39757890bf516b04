/** Every error that Turnwise raises on purpose: the table behind the type of codes, exit codes and docs/errors.md. */

import { agents } from './agents.ts';
import { commandLine } from './command-line.ts';
import { configuration } from './configuration.ts';
import { controlFlow } from './control-flow.ts';
import { engine } from './engine.ts';
import { environmentServer } from './environment-server.ts';
import { environments } from './environments.ts';
import type { ErrorMeaning, ErrorTable } from './error-table.ts';
import { gamesAndStatistics } from './games-and-statistics.ts';
import { graphs } from './graphs.ts';
import { remoteEnvironments } from './remote-environments.ts';
import { rolloutsAndCredit } from './rollouts-and-credit.ts';
import { runsOnDisk } from './runs-on-disk.ts';
import { sandbox } from './sandbox.ts';
import { serving } from './serving.ts';
import { tinker } from './tinker.ts';

const table = {
  ...commandLine,
  ...configuration,
  ...runsOnDisk,
  ...rolloutsAndCredit,
  ...agents,
  ...environments,
  ...remoteEnvironments,
  ...environmentServer,
  ...sandbox,
  ...engine,
  ...tinker,
  ...serving,
  ...graphs,
  ...gamesAndStatistics,
  ...controlFlow,
};

/** The code of an error: it never changes its meaning. */
export type ErrorCode = keyof typeof table;

export const errorCodes: Readonly<Record<ErrorCode, ErrorMeaning>> = table;

/** Chapters of docs/errors.md. */
export const chapters: readonly {
  readonly title: string;
  readonly about?: string;
  readonly codes: ErrorTable;
}[] = [
  { title: 'Command line', codes: commandLine },
  { title: 'Configuration', codes: configuration },
  { title: 'Runs on disk', codes: runsOnDisk },
  { title: 'Rollout files and credit', codes: rolloutsAndCredit },
  {
    title: 'Agents and the gateway',
    about: '[Protocols](protocols.md) lists the answers of the gateway to its clients.',
    codes: agents,
  },
  { title: 'Environments', codes: environments },
  {
    title: 'Remote environments',
    about:
      'Inside an episode these errors end it as `failed:environment` (`failed:tool` for a tool, `failed:grader` for a verifier). [Protocols](protocols.md) has the rest.',
    codes: remoteEnvironments,
  },
  {
    title: 'Environment server',
    about:
      '`turnwise env serve` answers with these codes as `{"error": {"code", "message"}}`; the HTTP status is in brackets. Errors of the environment itself have the code `environment-failed` (500).',
    codes: environmentServer,
  },
  { title: 'Tools in a sandbox', codes: sandbox },
  { title: 'Engine', codes: engine },
  { title: 'The Tinker API', codes: tinker },
  {
    title: 'Serving',
    about:
      'Our own servers refuse requests with these codes. Clients of `turnwise serve` see them as `{"detail": message}` with the status.',
    codes: serving,
  },
  { title: 'Graphs', codes: graphs },
  { title: 'Games and statistics', codes: gamesAndStatistics },
  { title: 'Control flow', codes: controlFlow },
];
