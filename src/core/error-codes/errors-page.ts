/** docs/errors.md, written from the table of codes. */

import { chapters } from './error-codes.ts';
import type { ErrorTable } from './error-table.ts';

const introduction = `# Errors

The code writes this page: \`npx vitest run src/core/error-codes --update\`.

Every error that Turnwise raises on purpose is a \`TurnwiseError\`. It has a stable \`code\`, structured \`fields\`, and a message with four parts: the problem, the value that was seen, the values that are allowed, and the next step. Check with \`TurnwiseError.isInstance(error)\` and switch on \`error.code\`. A code never changes its meaning; messages may change.

The command line prints the message and the code. With \`--json\` it writes \`{"error": {"code", "message", "fields"}}\` to standard error. The exit code is 0 for success, 1 for a failure, 2 for a wrong command line (marked “exit 2” below) and 130 for an interruption.

Errors inside an episode (an environment that throws, hangs or returns an infinite reward) are not raised. The episode ends with the stop reason \`failed:<origin>\` or \`timeout\`, stays out of the baseline and the loss, counts in the metrics and is reported as a warning.`;

/** The page as Markdown. */
export function errorsPage(): string {
  const parts = chapters.map(({ title, about, codes }) =>
    [`## ${title}`, ...(about === undefined ? [] : [about]), tableOf(codes)].join('\n\n'),
  );
  return `${[introduction, ...parts].join('\n\n')}\n`;
}

function tableOf(codes: ErrorTable): string {
  const rows = Object.entries(codes).map(([code, { meaning, remedy, exit }]) => {
    const said = exit === undefined ? meaning : `${meaning} (exit ${exit})`;
    return `| \`${code}\` | ${cell(said)} | ${cell(remedy)} |`;
  });
  return ['| code | meaning | what to do |', '| --- | --- | --- |', ...rows].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
