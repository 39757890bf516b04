/** Events of runs as JSON, one a line, appended to a file. */

import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { exactJson } from '../../core/json/exact-json.ts';
import type { Sink } from './sink.ts';

/**
 * Append every event to a file, as `events.jsonl` of the run has it. Where a run goes on, its `resume` event says so.
 *
 * @example
 * await train({ world: 'frozen-lake', sinks: [jsonLines('./events.jsonl')] });
 */
export function jsonLines(path: string): Sink {
  return {
    open: () => {
      mkdirSync(dirname(path), { recursive: true });
    },
    event: (event) => appendFileSync(path, `${exactJson(event)}\n`),
  };
}
