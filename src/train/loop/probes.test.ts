import { expect, test } from 'vitest';
import type { Json } from '../../core/json/json.ts';
import type { Probe, ProbedLearner, ProbeMoment } from './probe.ts';
import { guarded, lookAll } from './probes.ts';

const learner = {} as ProbedLearner;
const at = (step: number): Omit<ProbeMoment, 'state'> => ({
  step,
  last: false,
  groups: [],
  spent: { episodes: 0, turns: 0, tokens: 0, seconds: 0 },
  signal: new AbortController().signal,
});

test('each looks when it is its turn, is given its own state, and tells figures under its name', async () => {
  const counting = (name: string, every?: number): Probe => ({
    name,
    ...(every !== undefined && { every }),
    run: (_, { state, step }) => ({ metrics: { looks: Number(state) + 1, step }, state: Number(state) + 1 }),
  });
  const probes = [counting('often'), counting('seldom', 2), counting('never', 0)].map(guarded);
  let states: Readonly<Record<string, Json>> = { other: 'kept' };
  const metrics: unknown[] = [];
  for (let step = 1; step <= 4; step++) {
    const seen = await lookAll(probes, learner, at(step), states);
    states = seen.states;
    metrics.push(seen.metrics);
  }
  const often = (step: number) => ({ 'often/looks': step, 'often/step': step });
  expect(metrics).toEqual([
    often(1),
    { ...often(2), 'seldom/looks': 1, 'seldom/step': 2 },
    often(3),
    { ...often(4), 'seldom/looks': 2, 'seldom/step': 4 },
  ]);
  expect(states).toEqual({ other: 'kept', 'own/often': 4, 'own/seldom': 2 });
});

test.each<[string, Probe['run'], string]>([
  [
    'throws',
    () => {
      throw new Error('no ruler');
    },
    'step 3: the probe "mine" threw an error: no ruler',
  ],
  ['rejects', () => Promise.reject(new Error('late')), 'step 3: the probe "mine" threw an error: late'],
  [
    'gives no number',
    () => ({ metrics: { size: Number.NaN } }),
    'step 3: the probe "mine" gave size=NaN, which is no number',
  ],
  [
    'leaves no JSON',
    () => ({ state: { seen: new Map() } as unknown as Json }),
    'step 3: the probe "mine" left a state that is no JSON, at $.seen',
  ],
])('where a probe %s the run warns, and its state stays', async (_, run, message) => {
  const seen = await lookAll([guarded({ name: 'mine', run })], learner, at(3), { 'own/mine': 7 });
  expect(seen).toEqual({
    metrics: {},
    events: [{ type: 'warning', code: 'probe-failed', message }],
    states: { 'own/mine': 7 },
  });
});

test('a run that is stopped stops in its probes too', async () => {
  const stopping = new AbortController();
  const run: Probe['run'] = () => {
    stopping.abort();
    throw new Error('cancelled');
  };
  const moment = { ...at(1), signal: stopping.signal };
  await expect(lookAll([guarded({ name: 'mine', run })], learner, moment, {})).rejects.toThrow('cancelled');
});
