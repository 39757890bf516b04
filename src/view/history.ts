/**
 * What the events of a run tell about it. The server folds those that are stored, and the page goes on folding those that
 * come while it is open, so that both always say the same.
 */

import type { TimedEvent } from '../store/log-lines.ts';
import type { EvaluationResult, Phase, RunSummary, Spend, StoredEvent } from '../train/loop/events.ts';

type Start = Extract<StoredEvent, { readonly type: 'start' }>;

export interface EvaluationPoint {
  readonly step: number;
  readonly label: 'before' | 'during' | 'after';
  readonly sampled: EvaluationResult;
  readonly greedy?: EvaluationResult;
  readonly spent: Spend;
  /** Milliseconds since 1970. */
  readonly time: number;
}

export interface Warning {
  readonly code: string;
  readonly message: string;
  /** The step after which it came. */
  readonly step: number;
  readonly time: number;
}

/** How the policy played while it imitated: at step 0 before that, on test tasks. */
export interface ImitationCheck {
  readonly step: number;
  readonly success: number;
  readonly validShare: number;
  readonly episodes: number;
}

/** A prompt that groups read, and what it earned in all of them. */
export interface TriedPrompt {
  /** Its name in the log. */
  readonly id: string;
  /** Its beginning; '' is no prompt. */
  readonly text: string;
  readonly groups: number;
  readonly return: number;
  readonly success: number;
  /** The last step that it was tried in. */
  readonly step: number;
}

export interface History {
  readonly start?: Start;
  readonly phase?: Phase;
  /** What a step was estimated to take, in seconds. */
  readonly stepEstimate?: number;
  readonly imitation?: {
    readonly step: number;
    readonly steps: number;
    readonly checks: readonly ImitationCheck[];
  };
  /** The last step that was learned from, and how many there will be. */
  readonly step: number;
  readonly steps: number;
  readonly spent?: Spend;
  readonly evaluations: readonly EvaluationPoint[];
  readonly warnings: readonly Warning[];
  /** The prompts that were tried of late, in the order in which they came. */
  readonly prompts: readonly TriedPrompt[];
  /** The name of the one that evaluations read. */
  readonly bestPrompt?: string;
  /** The weights stay as they are. */
  readonly still?: true;
  /** Steps from which the run was gone on with. */
  readonly resumes: readonly number[];
  readonly summary?: RunSummary;
  /** Milliseconds since 1970: the first event and the last one. */
  readonly began: number;
  readonly last: number;
}

export const noHistory: History = {
  step: 0,
  steps: 0,
  evaluations: [],
  warnings: [],
  prompts: [],
  resumes: [],
  began: 0,
  last: 0,
};

/** The history after one more event. */
export function withEvent(history: History, event: TimedEvent): History {
  const time = Date.parse(event.time);
  const timed = { ...kept(history, event), began: history.began || time, last: time };
  switch (event.type) {
    case 'start':
      return { ...timed, start: event };
    case 'phase':
      return {
        ...timed,
        phase: event.phase,
        steps: event.phase === 'train' ? (event.steps ?? 0) : timed.steps,
        ...(event.still && { still: true }),
      };
    case 'prompts':
      return { ...timed, prompts: tried(timed.prompts, event), bestPrompt: event.best };
    case 'estimate':
      return { ...timed, stepEstimate: event.seconds.step };
    case 'clone':
      return { ...timed, imitation: imitated(timed, event) };
    case 'step':
      return { ...timed, step: event.step, steps: event.steps, spent: event.spent };
    case 'evaluation': {
      const { step, label, sampled, greedy, spent } = event;
      const point = { step, label, sampled, ...(greedy && { greedy }), spent, time };
      return { ...timed, evaluations: [...timed.evaluations, point] };
    }
    case 'warning': {
      const { code, message } = event;
      return { ...timed, warnings: [...timed.warnings, { code, message, step: timed.step, time }] };
    }
    case 'resume':
      return { ...timed, resumes: [...timed.resumes, event.step] };
    case 'finish':
      return { ...timed, summary: event.summary };
    default:
      return timed;
  }
}

/** Prompts that a page shows, and characters of each. */
const mostPrompts = 24;
const promptCharacters = 600;

/** The prompts with those of one more step. Those that were not tried for longest go, but for the best. */
function tried(
  before: readonly TriedPrompt[],
  { step, used, best, texts }: Extract<StoredEvent, { readonly type: 'prompts' }>,
): readonly TriedPrompt[] {
  const all = new Map(before.map((one) => [one.id, one]));
  for (const { prompt: id, groups: more, return: earned, success } of used) {
    const known = all.get(id);
    const groups = (known?.groups ?? 0) + more;
    const of = (sum: number | undefined, own: number): number =>
      (sum ?? 0) + (more * (own - (sum ?? 0))) / groups;
    const text = known?.text ?? texts[id]?.slice(0, promptCharacters) ?? '';
    all.set(id, {
      id,
      text,
      groups,
      return: of(known?.return, earned),
      success: of(known?.success, success),
      step,
    });
  }
  const left = [...all.values()].sort(
    (a, b) => Number(b.id === best) - Number(a.id === best) || b.step - a.step,
  );
  const kept = new Set(left.slice(0, mostPrompts));
  return [...all.values()].filter((one) => kept.has(one));
}

function imitated(
  { imitation }: History,
  { step, steps, metrics }: Extract<StoredEvent, { readonly type: 'clone' }>,
): NonNullable<History['imitation']> {
  const before = imitation?.checks ?? [];
  const episodes = metrics['clone/checked_episodes'];
  const { 'clone/success': success = 0, 'clone/valid_share': validShare = 0 } = metrics;
  const checks = episodes === undefined ? before : [...before, { step, success, validShare, episodes }];
  return { step, steps, checks };
}

/** An event that opens a generation voids what came after the checkpoint that it goes on from. */
function kept(history: History, { keeps, from }: TimedEvent): History {
  if (keeps === undefined || from === undefined) return history;
  const { summary: _, ...rest } = history;
  return {
    ...rest,
    step: Math.min(history.step, Math.max(0, from)),
    evaluations: history.evaluations.filter(({ step }) => step <= from),
    warnings: history.warnings.filter(({ step }) => step <= from),
    // What a voided step added to a prompt is not known any more: such prompts are left out.
    prompts: history.prompts.filter(({ step }) => step <= from),
    resumes: history.resumes.filter((step) => step <= from),
  };
}
