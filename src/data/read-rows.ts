/**
 * Reads dataset files: JSON Lines, each line a row of ours or of another library. Every error names its line and what is wrong
 * with it.
 */

import { readFileSync } from 'node:fs';
import { TurnwiseError } from '../core/errors.ts';
import { exactNumber } from '../core/json/exact-json.ts';
import type { Json } from '../core/json/json.ts';
import { type Body, pairOf, promptAndCompletion, shareGpt } from './foreign-rows.ts';
import { readMessages, readTools } from './read-message.ts';
import { readSource } from './read-source.ts';
import { isLearned, type Row, type RowTokens, type RowTop } from './row.ts';
import {
  fieldsOf,
  isAbsent,
  listOf,
  numberOf,
  presentIn,
  RowProblem,
  rowInvalid,
  wholeOf,
} from './row-problem.ts';

export interface NumberedRow {
  readonly line: number;
  readonly row: Row;
}

/** The rows of a file, and what is wrong with its other lines. */
export interface CheckedFile {
  readonly rows: readonly NumberedRow[];
  readonly errors: readonly TurnwiseError[];
}

/** All rows of a file. @throws TurnwiseError `data-invalid` at the first bad line, `file-unknown` */
export function readRows(file: string): NumberedRow[] {
  const { rows, errors } = checkRows(file);
  if (errors[0]) throw errors[0];
  return [...rows];
}

/** Every line of a file, the bad ones too. @throws TurnwiseError `file-unknown` */
export function checkRows(file: string): CheckedFile {
  const rows: NumberedRow[] = [];
  const errors: TurnwiseError[] = [];
  for (const [index, text] of linesOf(file).entries()) {
    if (text.trim() === '') continue;
    try {
      rows.push({ line: index + 1, row: parseRow(text) });
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      errors.push(rowInvalid(file, index + 1, error));
    }
  }
  return { rows, errors };
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .replace(/^\uFEFF/, '')
      .split('\n');
  } catch (cause) {
    throw new TurnwiseError('file-unknown', {
      what: `There is no file ${file} that can be read`,
      seen: cause instanceof Error ? cause.message : String(cause),
      fields: { path: file },
      cause,
    });
  }
}

/** Whether a line is a row of a dataset, ours or another library's, and nothing else. */
export function isRow(line: string): boolean {
  try {
    const value = JSON.parse(line) as Readonly<Record<string, unknown>> | null;
    if (typeof value !== 'object' || value === null) return false;
    return ['messages', 'conversations', 'chosen', 'completion'].some((name) => name in value);
  } catch {
    return false;
  }
}

/** @throws RowProblem */
export function parseRow(text: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RowProblem('', text, `one JSON object (${(cause as Error).message})`);
  }
  const fields = presentIn(fieldsOf(value, '', 'a JSON object'));
  if (fields.v !== undefined && fields.v !== 1) throw new RowProblem('v', fields.v, '1');
  const body = bodyOf(fields);
  const { messages, chosen, rejected } = body;
  const tools = fields.tools === undefined ? [] : readTools(fields.tools, 'tools');
  const common = {
    v: 1 as const,
    messages,
    ...(tools.length > 0 && { tools }),
    ...(fields.task !== undefined && { task: fields.task as Json }),
    source: readSource(fields.source),
  };
  if (chosen && rejected) {
    if (messages.length === 0)
      throw new RowProblem('messages', messages, 'at least one message before the answers');
    for (const [name, way] of Object.entries({ chosen, rejected })) {
      if (!way.some(isLearned)) throw new RowProblem(name, way, 'an assistant message');
    }
    return { ...common, chosen, rejected };
  }
  if (messages.length === 0) throw new RowProblem('messages', messages, 'at least one message');
  const reward = body.reward ?? (fields.reward === undefined ? undefined : numberOf(fields.reward, 'reward'));
  const success = body.success ?? fields.success;
  if (success !== undefined && typeof success !== 'boolean')
    throw new RowProblem('success', success, 'true or false');
  return {
    ...common,
    ...(reward !== undefined && { reward }),
    ...(success !== undefined && { success }),
    ...(!isAbsent(fields.tokens) && { tokens: tokensOf(fields.tokens) }),
  };
}

function bodyOf(fields: Readonly<Record<string, unknown>>): Body {
  if (fields.chosen !== undefined || fields.rejected !== undefined) return pairOf(fields);
  if (fields.messages !== undefined) return { messages: readMessages(fields.messages, 'messages') };
  if (fields.conversations !== undefined) return shareGpt(fields.conversations);
  if (fields.completion !== undefined) return promptAndCompletion(fields);
  throw new RowProblem(
    '',
    Object.keys(fields),
    'messages; chosen and rejected; prompt and completion; or conversations',
  );
}

function tokensOf(value: unknown): RowTokens {
  const { tokenizer, ids, sampled, logprobs, top } = presentIn(fieldsOf(value, 'tokens'));
  if (tokenizer !== undefined && typeof tokenizer !== 'string')
    throw new RowProblem('tokens.tokenizer', tokenizer, 'a hash');
  const all = Int32Array.from(
    listOf(ids, 'tokens.ids').map((id, index) => wholeOf(id, `tokens.ids[${index}]`)),
  );
  let end = 0;
  const spans = listOf(sampled, 'tokens.sampled').map((span, index) => {
    const path = `tokens.sampled[${index}]`;
    const [from, to] = listOf(span, path).map((place) => wholeOf(place, path));
    if (from === undefined || to === undefined || from < end || to < from || to > all.length)
      throw new RowProblem(path, span, `[from, to] within ${all.length} ids, one after another`);
    end = to;
    return [from, to] as const;
  });
  const count = spans.reduce((sum, [from, to]) => sum + to - from, 0);
  const probabilities = Float32Array.from(
    logprobs === undefined
      ? new Array<number>(count).fill(0)
      : listOf(logprobs, 'tokens.logprobs').map(
          (one, index) => exactNumber(one) ?? numberOf(one, `tokens.logprobs[${index}]`),
        ),
  );
  if (probabilities.length !== count)
    throw new RowProblem(
      'tokens.logprobs',
      probabilities.length,
      `${count} numbers, one for each sampled id`,
    );
  return {
    ...(tokenizer !== undefined && { tokenizer }),
    ids: all,
    sampled: spans,
    logprobs: probabilities,
    ...(!isAbsent(top) && { top: topOf(top, count) }),
  };
}

/** Likeliest tokens of `count` sampled ids. */
function topOf(value: unknown, count: number): RowTop {
  const { by, k, ids, logprobs } = presentIn(fieldsOf(value, 'tokens.top'));
  if (by !== undefined && typeof by !== 'string') throw new RowProblem('tokens.top.by', by, 'a name');
  if (!Number.isInteger(k) || (k as number) < 1)
    throw new RowProblem('tokens.top.k', k, 'a whole number from 1');
  const all = Int32Array.from(
    listOf(ids, 'tokens.top.ids').map((id, index) => wholeOf(id, `tokens.top.ids[${index}]`)),
  );
  const probabilities = Float32Array.from(
    listOf(logprobs, 'tokens.top.logprobs').map((logprob, index) =>
      numberOf(logprob, `tokens.top.logprobs[${index}]`),
    ),
  );
  for (const [name, { length }] of Object.entries({ ids: all, logprobs: probabilities })) {
    if (length === count * (k as number)) continue;
    throw new RowProblem(
      `tokens.top.${name}`,
      `${length} numbers`,
      `${count * (k as number)}: ${k} for each of ${count} sampled ids`,
    );
  }
  const over = probabilities.find((logprob) => logprob > 1e-3);
  if (over !== undefined) throw new RowProblem('tokens.top.logprobs', over, 'log-probabilities, at most 0');
  return { ...(by !== undefined && { by }), k: k as number, ids: all, logprobs: probabilities };
}
