/** The probes of a run: each looks when it is its turn, and those of the user can end nothing. */

import { findNonJson, type Json } from '../../core/json/json.ts';
import { thrownText, valueText } from '../../core/safe-text.ts';
import { sharedRows } from '../../engine/token-batch.ts';
import { evaluate } from '../../eval/evaluate.ts';
import { evaluationOptions, type Learner } from '../kit/learner.ts';
import { placeValues } from '../kit/place-values.ts';
import type { Metrics, StoredEvent } from './events.ts';
import type { OwnProbe, Probe, ProbedLearner, ProbeMoment, Seen } from './probe.ts';

type States = Readonly<Record<string, Json>>;

/** What all probes have seen after a step. */
export interface AllSeen {
  readonly metrics: Metrics;
  /** To be stored after the event of the step. */
  readonly events: readonly StoredEvent[];
  readonly states: States;
}

/** Each looks whose turn it is, one after another. */
export async function lookAll(
  probes: readonly OwnProbe[],
  learner: ProbedLearner,
  at: Omit<ProbeMoment, 'state'>,
  before: States,
): Promise<AllSeen> {
  const metrics: Record<string, number> = {};
  const events: StoredEvent[] = [];
  const states: Record<string, Json> = { ...before };
  for (const probe of probes) {
    const { name, every = 1 } = probe;
    if (every === 0 || at.step % every !== 0) continue;
    const seen = await probe.run(learner, { ...at, state: states[name] ?? null });
    Object.assign(metrics, seen.metrics);
    events.push(...(seen.events ?? []));
    if (seen.state !== undefined) states[name] = seen.state;
  }
  return { metrics, events, states };
}

/** A user's probe: its figures under its name. Where it fails the run warns, and goes on without what it would have seen. */
export function guarded(probe: Probe): OwnProbe {
  const { name, every = 1 } = probe;
  const failed = (step: number, problem: string): { readonly events: readonly StoredEvent[] } => ({
    events: [
      { type: 'warning', code: 'probe-failed', message: `step ${step}: the probe "${name}" ${problem}` },
    ],
  });
  return {
    name: `own/${name}`,
    every,
    run: async (learner, at) => {
      let seen: Seen;
      try {
        seen = (await probe.run(learner, at)) ?? {};
      } catch (error) {
        if (at.signal.aborted) throw error;
        return failed(at.step, `threw an error: ${thrownText(error)}`);
      }
      const { metrics = {}, state } = seen;
      const strange = Object.entries(metrics).find(([, value]) => !Number.isFinite(value));
      if (strange) return failed(at.step, `gave ${strange[0]}=${valueText(strange[1])}, which is no number`);
      if (state !== undefined && findNonJson(state) !== undefined)
        return failed(at.step, `left a state that is no JSON, at ${findNonJson(state)}`);
      const named = Object.entries(metrics).map(([metric, value]) => [`${name}/${metric}`, value]);
      return { metrics: Object.fromEntries(named) as Metrics, ...(state !== undefined && { state }) };
    },
  };
}

/** What probes see of a learner. */
export function probed(learner: Learner, signal: AbortSignal, step: () => number): ProbedLearner {
  const { world, renderer, engine, seats } = learner;
  return {
    world,
    renderer,
    evaluate: async ({ tasks = 200, split = 'test', temperature = 1, search } = {}) => {
      await seats?.before(0);
      const sampling = { temperature, topP: 1, topK: 0 };
      const options = { ...evaluationOptions(learner, signal), split, tasks, step: step(), sampling };
      if (!search) return (await evaluate(options)).result;
      const valuesOf = placeValues(learner);
      return (await evaluate({ ...options, search: { ...search, ...(valuesOf && { valuesOf }) } })).result;
    },
    score: (rows_B, what) => engine.score({ rows: sharedRows(rows_B) }, { temperature: 1, ...what }),
  };
}
