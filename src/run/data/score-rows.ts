/** A teacher's likeliest tokens for the recorded ids of rows, so that others can be distilled from the file. */

import type { TopTokens } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { ConversationRow, Row, RowTokens, RowTop } from '../../data/row.ts';
import { isPreference } from '../../data/row.ts';
import { scoredRows } from '../../engine/token-batch.ts';
import type { ScoringModel } from '../players/open-teacher.ts';

export interface ScoredRowsOf {
  readonly rows: readonly Row[];
  readonly scored: number;
  /** Rows that are as they were, by reason. */
  readonly left: Readonly<Record<string, number>>;
}

/** Rows that are read at once. */
const AT_ONCE = 64;

/**
 * The rows with `tokens.top` of this teacher. Rows of another tokenizer, without ids, and longer than its context stay as they
 * are.
 *
 * @param by the name of the teacher, for the rows
 * @throws TurnwiseError `teacher-unfit` where it can score none
 */
export async function scoreRows(
  rows: readonly Row[],
  teacher: ScoringModel,
  { by, top, signal }: { readonly by: string; readonly top: number; readonly signal: AbortSignal },
): Promise<ScoredRowsOf> {
  const left: Record<string, number> = {};
  const fit = rows.flatMap((row, index) => {
    const why = obstacle(row, teacher);
    if (why === undefined) return [{ index, row: row as ConversationRow & { readonly tokens: RowTokens } }];
    left[why] = (left[why] ?? 0) + 1;
    return [];
  });
  if (fit.length === 0) throw noneFits(by, rows.length, left, teacher);
  const written = [...rows];
  for (let from = 0; from < fit.length; from += AT_ONCE) {
    signal.throwIfAborted();
    const part = fit.slice(from, from + AT_ONCE);
    const asked = scoredRows(part.map(({ row }) => ({ ids_T: row.tokens.ids })));
    const { top: told } = await teacher.score(asked, { temperature: 1, top });
    for (const [place, { index, row }] of part.entries()) {
      const { tokens } = row;
      written[index] = { ...row, tokens: { ...tokens, top: topOfSampled(tokens, told![place]!, by) } };
    }
  }
  return { rows: written, scored: fit.length, left };
}

function obstacle(row: Row, { tokenizer, contextLength }: ScoringModel): string | undefined {
  if (isPreference(row)) return 'pairs';
  const { tokens } = row;
  if (tokens === undefined || tokens.ids.length < 2) return 'rows without token ids';
  if (tokens.tokenizer !== tokenizer) return 'rows of another tokenizer';
  return tokens.ids.length > contextLength ? 'rows longer than the context of the teacher' : undefined;
}

/** The numbers of sampled ids, one answer after another. */
function topOfSampled({ ids, sampled }: RowTokens, top: TopTokens, by: string): RowTop {
  const k = top.ids.length / ids.length;
  const places = sampled.flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at));
  const found = {
    by,
    k,
    ids: new Int32Array(places.length * k),
    logprobs: new Float32Array(places.length * k),
  };
  for (const [place, token] of places.entries()) {
    found.ids.set(top.ids.subarray(token * k, (token + 1) * k), place * k);
    found.logprobs.set(top.logprobs.subarray(token * k, (token + 1) * k), place * k);
  }
  return found;
}

function noneFits(
  teacher: string,
  rows: number,
  left: Readonly<Record<string, number>>,
  { tokenizer }: ScoringModel,
): TurnwiseError {
  return new TurnwiseError('teacher-unfit', {
    what: `The teacher ${teacher} can score none of ${rows} rows`,
    seen: Object.entries(left)
      .map(([why, count]) => `${count} ${why}`)
      .join(', '),
    allowed: `rows with token ids of its tokenizer, ${tokenizer.slice(0, 16)}`,
    next: 'Record rows with a model of the same tokenizer (turnwise data convert RUN), or take a teacher that has theirs',
    fields: { teacher, tokenizer },
  });
}
