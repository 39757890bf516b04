/**
 * Reads the rollouts of `turnwise credit`: files written by hand, and those of a run directory.
 *
 * A file is a JSON array of trajectories, or one trajectory per line:
 *
 *   { "groupId": "g", "id": "a", "role"?: "agent", "game"?: "kuhn-poker", "outcome"?: 1, "stop"?: "done", "turns": [
 *     { "reward"?: 0, "anchor"?: "s0", "tokens"?: 5, "mask"?: [1, 1, 0], "values"?: [0.2, 0.4], "observationTokens"?: 1 } ] }
 *
 * - `outcome` defaults to the sum of the turn rewards, a turn's reward to 0.
 * - `tokens` is the number of sampled tokens; else the ones in `mask`, else the length of `values`, else 1.
 * - `values` has one number per sampled token. It may also cover observation tokens, which are dropped: by `mask`, or,
 *   when it has `tokens` + `observationTokens` numbers, from the end.
 * - Trajectories that stopped with `timeout`, `cancelled` or `failed:*` are excluded: they never enter statistics.
 * - Fields of no interest here are ignored, unless they look like a misspelt field that is missing.
 */

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { isTrainable, type StopReason } from '../core/stop.ts';
import { AGENT } from '../env/session.ts';
import { type JsonItem, parseJsonItems } from './json-lines.ts';
import type { CreditTrajectory, CreditTurn } from './rollouts.ts';
import { isSlipOf } from './slip.ts';

export interface StoredRollout extends CreditTrajectory {
  /** True where the stop reason forbids learning from it. */
  readonly excluded: boolean;
}

const stopReasons = [
  'done',
  'turn-limit',
  'token-limit',
  'context-overflow',
  'invalid-action',
  'early-stop',
  'timeout',
  'cancelled',
  'failed:policy',
  'failed:environment',
  'failed:tool',
  'failed:grader',
  'failed:engine',
] as const satisfies readonly StopReason[];

const name = z
  .union([z.string(), z.number()], { error: 'Invalid input: expected a text or a number' })
  .transform(String);

const turnSchema = z.looseObject({
  reward: z.number().default(0),
  anchor: name.optional(),
  tokens: z.number().int().min(0).optional(),
  mask: z.array(z.literal([0, 1])).optional(),
  values: z.array(z.number()).optional(),
  observationTokens: z.number().int().min(0).optional(),
});

const rolloutSchema = z.looseObject({
  groupId: name,
  id: name,
  role: name.default(AGENT),
  game: z.string().optional(),
  outcome: z.number().optional(),
  stop: z.enum(stopReasons).optional(),
  turns: z.array(turnSchema),
});

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
  const { id, groupId, role, game, outcome, stop = 'done' } = result.data;
  const turns = result.data.turns.map((turn, k) =>
    readTurn(turn, (field, parts) => fieldError(item, source, `turns[${k}].${field}`, parts)),
  );
  return {
    id,
    groupId,
    role,
    ...(game !== undefined && { game }),
    outcome: outcome ?? turns.reduce((sum, turn) => sum + turn.reward, 0),
    turns,
    excluded: !isTrainable(stop),
  };
}

type Parts = { readonly what: string; readonly seen: string; readonly allowed?: string };

function readTurn(turn: FileTurn, error: (field: string, parts: Parts) => TurnwiseError): CreditTurn {
  const { reward, anchor, mask, values, observationTokens } = turn;
  const maskedTokens = mask?.filter((bit) => bit === 1).length;
  const tokens = turn.tokens ?? maskedTokens ?? values?.length ?? 1;
  if (mask && maskedTokens !== tokens) {
    throw error('mask', {
      what: 'must have a 1 for each sampled token',
      seen: `${maskedTokens} ones`,
      allowed: `${tokens}, as turns[].tokens says`,
    });
  }
  const known = mask ?? (observationTokens === undefined ? undefined : layout(tokens, observationTokens));
  let sampledValues = values;
  if (values && values.length !== tokens) {
    if (values.length !== known?.length) {
      throw error('values', {
        what: 'must have one number for each sampled token',
        seen: `${values.length} numbers`,
        allowed: known ? `${tokens}, or ${known.length} with observation tokens` : String(tokens),
      });
    }
    sampledValues = values.filter((_, t) => known[t] === 1);
  }
  return {
    reward,
    tokens,
    ...(anchor !== undefined && { anchor }),
    ...(sampledValues && { values: sampledValues }),
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
