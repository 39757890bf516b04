/** The rows of a NeMo Gym data set: what the agent is asked, which tools it has, and whatever its verifier needs. */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { Message } from '../../core/messages.ts';
import { declaredTool, toolDeclaration } from '../declared-tools.ts';
import type { DescribedTool } from '../tool-protocol.ts';

const inputItem = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]),
});

const rowShape = z.looseObject({
  responses_create_params: z.looseObject({
    input: z.union([z.string(), z.array(inputItem)]),
    tools: z.array(z.looseObject({ type: z.string() }).and(toolDeclaration)).nullish(),
  }),
});

export interface NemoRow {
  /** As it stands in the file: every request carries it. */
  readonly row: JsonObject;
  readonly messages: readonly Message[];
  readonly tools: readonly DescribedTool[];
}

/** @throws TurnwiseError `nemo-data` where the file is missing, or a line is no row */
export function readNemoRows(path: string): NemoRow[] {
  if (path === '') {
    throw badData('NeMo Gym serves no tasks: they are in a file of JSON lines', 'no file', {
      next: 'Name it: --set environment.data=FILE, or nemo:http://host:port#FILE',
    });
  }
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw badData('The tasks of NeMo Gym cannot be read', path, { cause });
  }
  const rows = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [readRow(line, path, index + 1)]));
  if (rows.length === 0) throw badData('The file of NeMo Gym tasks is empty', path);
  return rows;
}

function readRow(line: string, path: string, number: number): NemoRow {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw badData('A line of the NeMo Gym tasks is not JSON', `${path}, line ${number}`, { cause });
  }
  const parsed = rowShape.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw badData(
      `A line of the NeMo Gym tasks cannot be used: ${issue!.message} at "${issue!.path.join('.')}"`,
      `${path}, line ${number}`,
    );
  }
  const { input, tools } = parsed.data.responses_create_params;
  const items = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  return {
    row: value as JsonObject,
    messages: items.map(({ role, content }) => ({
      role: role === 'developer' ? 'system' : role,
      content: typeof content === 'string' ? content : content.map((part) => part.text ?? '').join(''),
    })),
    tools: (tools ?? []).map(declaredTool),
  };
}

function badData(what: string, seen: string, more: { next?: string; cause?: unknown } = {}): TurnwiseError {
  return new TurnwiseError('nemo-data', { what, seen, ...more });
}
