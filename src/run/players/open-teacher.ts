/** The teacher of a run: whoever scores the tokens of its policy, with the same tokenizer and room for as many tokens. */

import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { createEmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import { openCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import { SpendMeter } from '../../server/gateway/spend.ts';
import { parseUpstream } from '../../server/gateway/upstream/upstream-model.ts';
import { runNames } from '../../store/runs.ts';
import type { Teacher } from '../../train/kit/learner.ts';
import type { ModelCard } from '../../train/model-card.ts';
import { findPretrained, type HeldBase, type ModelSearch } from '../model/run-model.ts';
import { tokenizerHash, tokenizerOfCard } from '../model/tokenizer-hash.ts';
import { openModel } from '../open-model.ts';
import { scoringServer } from './scoring-server.ts';

export interface OpenTeacher extends Teacher {
  close(): Promise<void>;
}

export interface TeacherRequest extends ModelSearch {
  /** What the setting `teacher` says. */
  readonly teacher: string;
  /** Folder of all runs. */
  readonly root: string;
  /** Of the policy that is scored. */
  readonly card: ModelCard;
  readonly threads: number;
  /** Counts calls to servers. */
  readonly spend?: SpendMeter;
  /** Whose frozen weights it may share. */
  readonly held?: HeldBase;
}

export const isServer = (teacher: string): boolean => /^(openai|vllm):/.test(teacher);

/** The run that `teacher` names, by its name or its folder, and the step after `@`; undefined where it names none. */
function runOf(teacher: string, root: string): { root: string; name: string; step?: number } | undefined {
  const [, named = teacher, step] = /^(.+?)(?:@(\d+|last))?$/.exec(teacher) ?? [];
  const at = step === undefined || step === 'last' ? {} : { step: Number(step) };
  if (runNames(root).includes(named)) return { root, name: named, ...at };
  const folder = resolve(named);
  // A checkpoint folder of a pretrained model has a config.json as well.
  if (!existsSync(join(folder, 'events.jsonl'))) return undefined;
  return { root: dirname(folder), name: basename(folder), ...at };
}

/** The setting `teacher` as `config.json` keeps it: files by their absolute paths. */
export function teacherPlace(root: string, teacher: string): string {
  if (teacher === '' || isServer(teacher)) return teacher;
  const run = runOf(teacher, root);
  if (run === undefined) return existsSync(teacher) ? resolve(teacher) : teacher;
  if (run.root === root) return teacher;
  return join(run.root, run.name) + (run.step === undefined ? '' : `@${run.step}`);
}

/** A model that scores, with what it must share with those whose tokens these are. */
export interface ScoringModel extends OpenTeacher {
  /** Hash of its tokenizer. */
  readonly tokenizer: string;
  /** Longest sequence, in tokens. */
  readonly contextLength: number;
}

export interface ScoringModelRequest extends ModelSearch {
  /** RUN, RUN@STEP, the folder of a run, or a pretrained model. */
  readonly model: string;
  /** Folder of all runs. */
  readonly root: string;
  readonly threads: number;
  /** Tokens for which it needs room; default: those of the run, or of the pretrained model, at most 4096. */
  readonly contextLength?: number;
  /** Whose frozen weights it may share. */
  readonly held?: HeldBase;
}

/** A model on this machine that scores tokens. @throws TurnwiseError as `openModel` and `findModel` */
export async function openScoringModel(request: ScoringModelRequest): Promise<ScoringModel> {
  const { model: named, root, signal, threads, contextLength, held } = request;
  const run = runOf(named, root);
  if (run !== undefined) {
    const room = contextLength === undefined ? {} : { contextLength };
    const { engine, card } = await openModel({ ...run, ...room, signal, ...(held && { held }) });
    return scoring(engine, tokenizerOfCard(card), engine.capabilities.contextLength);
  }
  const path = await findPretrained(named, request);
  const model = await openCheckpoint(path, contextLength === undefined ? {} : { contextLength });
  // Its adapter stays at zero, so that it is the model as it is, and no weight is held twice to be trained.
  const engine = await createEmbeddedEngine({ model, lora: { rank: 1 }, seed: 0, threads, tokenBudget: 512 });
  return scoring(engine, tokenizerHash({ model: path }), model.shape.contextLength);
}

function scoring(
  engine: Teacher & { close(): Promise<void> },
  tokenizer: string,
  contextLength: number,
): ScoringModel {
  return {
    tokenizer,
    contextLength,
    score: (batch, options) => engine.score(batch, options),
    close: () => engine.close(),
  };
}

/**
 * The teacher that a setting names.
 *
 * @throws TurnwiseError `teacher-unfit` for another tokenizer or a shorter context; as `openScoringModel`
 */
export async function openTeacher(request: TeacherRequest): Promise<OpenTeacher> {
  const { teacher, card } = request;
  if (isServer(teacher)) return openServer(request);
  const { contextLength } = card.shape;
  const model = await openScoringModel({ ...request, model: teacher, contextLength });
  try {
    requireSameTokens(request, model);
    return model;
  } catch (error) {
    await model.close();
    throw error;
  }
}

function openServer({
  teacher,
  card,
  spend = new SpendMeter(),
  signal,
}: TeacherRequest): Promise<OpenTeacher> {
  if ('words' in card)
    throw new TurnwiseError('teacher-unfit', {
      what: `The teacher ${teacher} is a server of a pretrained model, and the policy is a small model with words of its own`,
      allowed: 'a run of the same environment',
      next: 'Train a pretrained model (--model), or name a run as its teacher',
      fields: { key: 'teacher' },
    });
  const upstream = parseUpstream(teacher, 'teacher', process.env.OPENAI_API_KEY);
  return scoringServer(upstream, { card, spend, signal });
}

/** @throws TurnwiseError `teacher-unfit` */
function requireSameTokens(
  { teacher, card }: TeacherRequest,
  { tokenizer: hash, contextLength }: ScoringModel,
): void {
  const own = tokenizerOfCard(card);
  if (hash !== own)
    throw new TurnwiseError('teacher-unfit', {
      what: `The teacher ${teacher} has another tokenizer than the policy: its ids mean other text, so it cannot score the policy's tokens`,
      seen: `tokenizer ${hash.slice(0, 16)}`,
      allowed: own.slice(0, 16),
      next: 'Use a teacher with the same tokenizer, such as a larger model of the same family or a run that started from the same words',
      fields: { key: 'teacher', seen: hash, allowed: own },
    });
  if (contextLength >= card.shape.contextLength) return;
  throw new TurnwiseError('teacher-unfit', {
    what: `The teacher ${teacher} reads shorter conversations than the policy`,
    seen: `${contextLength} tokens`,
    allowed: `at least ${card.shape.contextLength} tokens`,
    next: 'Use another teacher, or a smaller chat.contextLength',
    fields: { key: 'teacher' },
  });
}
