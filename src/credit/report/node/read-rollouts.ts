/**
 * Reads the rollouts of `turnwise credit`: files written by hand, and those of a run directory.
 *
 * A file is a JSON array of trajectories, or one trajectory per line:
 *
 *   { "groupId": "g", "id": "a", "role"?: "agent", "game"?: "kuhn-poker", "outcome"?: 1, "stop"?: "done", "turns": [
 *     { "reward"?: 0, "anchor"?: "s0", "tokens"?: 5, "mask"?: [1, 1, 0], "values"?: [0.2, 0.4], "observationTokens"?: 1 } ] }
 *
 * What each field means, and what holds without it, is said in fields.ts.
 * - `values` and `entropies` have one number per sampled token. They may also cover observation tokens, which are
 *   dropped: by `mask`, or, when they have `tokens` + `observationTokens` numbers, from the end.
 * - Trajectories that stopped with `timeout`, `cancelled` or `failed:*` are excluded: they never enter statistics.
 * - Fields of no interest here are ignored, unless they look like a misspelt field that is missing.
 */

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { TurnwiseError } from '../../../core/errors.ts';
import { isTrainable } from '../../../core/stop.ts';
import { rolloutFields, turnFields } from '../fields.ts';
import { type JsonItem, parseJsonItems } from '../json-lines.ts';
import type { CreditTrajectory, CreditTurn } from '../rollouts.ts';
import { isSlipOf } from '../slip.ts';

export interface StoredRollout extends CreditTrajectory {
  /** True where the stop reason forbids learning from it. */
  readonly excluded: boolean;
}

const turnSchema = z.looseObject(turnFields);
const rolloutSchema = z.looseObject(rolloutFields);

type FileTurn = z.infer<typeof turnSchema>;

/** The trajectories in a file, in order. Every error names the file and the place in it. */
export async function readRollouts(path: string): Promise<StoredRollout[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new TurnwiseError(missing ? 'rollouts-not-found' : 'rollouts-unreadable', {
      what: missing ? 'There is no such rollout file' : 'The rollout file cannot be read',
      seen: missing ? path : (cause as Error).message,
      next: 'Pass a JSON or JSONL file, such as one of a run directory under rollouts/',
      fields: { path },
      cause,
    });
  }
  return parseRollouts(text, path);
}

/** The trajectories in `text`; `source` names it in messages. */
export function parseRollouts(text: string, source: string): StoredRollout[] {
  const items = parseJsonItems(text, source);
  if (items.length === 0) {
    throw new TurnwiseError('rollouts-empty', {
      what: `${source} holds no trajectories`,
      allowed: 'a JSON array of trajectories, or one trajectory per line',
      fields: { source },
    });
  }
  const places = new Map<string, string>();
  return items.map((item) => {
    const rollout = parseRollout(item, source);
    const key = JSON.stringify([rollout.groupId, rollout.id, rollout.role]);
    const earlier = places.get(key);
    if (earlier !== undefined) {
      throw fieldError(item, source, 'id', {
        what: `is used twice in group "${rollout.groupId}", first at ${earlier}`,
        seen: rollout.id,
      });
    }
    places.set(key, item.place);
    return rollout;
  });
}

function parseRollout(item: JsonItem, source: string): StoredRollout {
  refuseMisspelt(item, source);
  const result = rolloutSchema.safeParse(item.value);
  if (!result.success) {
    const issue = result.error.issues[0]!;
    throw fieldError(item, source, formatPath(issue.path), {
      what: `is not valid: ${issue.message}`,
      seen: JSON.stringify(lookUp(item.value, issue.path)) ?? 'nothing',
    });
  }
  const { id, groupId, role, outcome, stop = 'done' } = result.data;
  const turns = result.data.turns.map((turn, k) =>
    readTurn(turn, (field, parts) => fieldError(item, source, `turns[${k}].${field}`, parts)),
  );
  const { sharedTurns } = result.data;
  if (sharedTurns !== undefined && sharedTurns > turns.length) {
    throw fieldError(item, source, 'sharedTurns', {
      what: 'is more than the trajectory has turns',
      seen: String(sharedTurns),
      allowed: `at most ${turns.length}`,
    });
  }
  return {
    id,
    groupId,
    role,
    ...present(result.data, trajectoryExtras),
    outcome: outcome ?? turns.reduce((sum, turn) => sum + turn.reward, 0),
    turns,
    ...((stop === 'token-limit' || stop === 'context-overflow') && {
      overlong: result.data.overlong ?? true,
    }),
    excluded: !isTrainable(stop),
  };
}

/** Fields that methods read as they are written. */
const trajectoryExtras = [
  'game',
  'episode',
  'absentOutcome',
  'success',
  'wellFormed',
  'overlong',
  'entityShare',
  'goldenCalls',
  'neededCalls',
  'parent',
  'sharedTurns',
  'replayedAdvantage',
  'mode',
] as const;
const turnExtras = [
  'anchor',
  'value',
  'dense',
  'valid',
  'attempt',
  'answerProbability',
  'informationGain',
  'calls',
  'progress',
  'features',
  'answer',
  'correct',
  'actionCount',
  'effectiveActions',
  'labelCorrect',
  'response',
  'wellFormed',
  'counterfactual',
  'teacherGaps',
] as const;

/** The named fields that are there. */
function present<Source extends object, Name extends keyof Source>(
  source: Source,
  names: readonly Name[],
): { [Key in Name]?: Exclude<Source[Key], undefined> } {
  const found: { [Key in Name]?: Source[Key] } = {};
  for (const name of names) if (source[name] !== undefined) found[name] = source[name];
  return found as { [Key in Name]?: Exclude<Source[Key], undefined> };
}

type Parts = { readonly what: string; readonly seen: string; readonly allowed?: string };

function readTurn(turn: FileTurn, error: (field: string, parts: Parts) => TurnwiseError): CreditTurn {
  const { reward, mask, observationTokens } = turn;
  const maskedTokens = mask?.filter((bit) => bit === 1).length;
  const tokens = turn.tokens ?? maskedTokens ?? turn.values?.length ?? turn.entropies?.length ?? 1;
  if (mask && maskedTokens !== tokens) {
    throw error('mask', {
      what: 'must have a 1 for each sampled token',
      seen: `${maskedTokens} ones`,
      allowed: `${tokens}, as turns[].tokens says`,
    });
  }
  const known = mask ?? (observationTokens === undefined ? undefined : layout(tokens, observationTokens));
  const perToken = (field: 'values' | 'entropies'): readonly number[] | undefined => {
    const numbers = turn[field];
    if (numbers === undefined || numbers.length === tokens) return numbers;
    if (numbers.length === known?.length) return numbers.filter((_, t) => known[t] === 1);
    throw error(field, {
      what: 'must have one number for each sampled token',
      seen: `${numbers.length} numbers`,
      allowed: known ? `${tokens}, or ${known.length} with observation tokens` : String(tokens),
    });
  };
  const values = perToken('values');
  const entropies =
    perToken('entropies') ??
    (turn.entropy === undefined ? undefined : new Array<number>(tokens).fill(turn.entropy));
  return {
    reward,
    tokens,
    ...present(turn, turnExtras),
    ...(values && { values }),
    ...(entropies && { entropies }),
    ...(known && { mask: known }),
  };
}

function layout(tokens: number, observationTokens: number): number[] {
  return [...new Array<number>(tokens).fill(1), ...new Array<number>(observationTokens).fill(0)];
}

/** An unknown field is refused when it is a known one, not there, in another spelling. */
function refuseMisspelt(item: JsonItem, source: string): void {
  const check = (value: unknown, path: string, shape: object): void => {
    if (typeof value !== 'object' || value === null) return;
    const missing = Object.keys(shape).filter((key) => !(key in value));
    for (const key of Object.keys(value)) {
      const suggestion = key in shape ? undefined : missing.find((known) => isSlipOf(key, known));
      if (suggestion === undefined) continue;
      throw fieldError(item, source, `${path}${key}`, {
        what: 'is not a known field',
        seen: `"${key}"`,
        next: `Did you mean "${suggestion}"?`,
      });
    }
  };
  check(item.value, '', rolloutSchema.shape);
  const turns = (item.value as { turns?: unknown } | null)?.turns;
  if (!Array.isArray(turns)) return;
  for (const [k, turn] of turns.entries()) check(turn, `turns[${k}].`, turnSchema.shape);
}

function fieldError(
  { place }: JsonItem,
  source: string,
  path: string,
  parts: Parts & { readonly next?: string },
): TurnwiseError {
  return new TurnwiseError('rollouts-field', {
    ...parts,
    what: `${source}, ${place}: ${path || 'the trajectory'} ${parts.what}`,
    fields: { source, place, path },
  });
}

function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

function lookUp(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null)?.[key], value);
}
