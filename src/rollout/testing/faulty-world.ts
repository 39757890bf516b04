/**
 * A world that goes wrong on purpose, for tests: each call into it, into its sessions and into its protocol fails with a
 * given probability, in one of the ways in which user code fails. Counts the sessions that nobody closed and the snapshots that
 * nobody let go of.
 */

import type { Rng } from '../../core/rng.ts';
import type { ActionProtocol } from '../../env/protocol.ts';
import type { Session, Snapshot, StepResult } from '../../env/session.ts';
import type { World } from '../../env/world.ts';
import { hostileInfo, hostileThrows, wrongValues } from './hostile-values.ts';

export const FAULTY_CALLS = [
  'open',
  'toMove',
  'observe',
  'anchor',
  'step',
  'snapshot',
  'snapshot.open',
  'dispose',
  'render',
  'close',
  'parse',
  'thought',
  'script',
] as const;
export type FaultyCall = (typeof FAULTY_CALLS)[number];

export const FAULTS = [
  'throws',
  'throws something hostile',
  'rejects',
  'never settles',
  'comes late',
  'gives something wrong',
  'gives a wrong field',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultPlan {
  /** Probability that a call goes wrong; read at every call. */
  readonly rate: number;
  readonly rng: Rng;
  /** Default: all. */
  readonly calls?: readonly FaultyCall[];
  /** Default: all. */
  readonly faults?: readonly Fault[];
  /** After how many milliseconds late answers come. */
  readonly lateMs: number;
}

export interface FaultyWorld {
  readonly world: World;
  /** Sessions that were given out and not closed. */
  openSessions(): number;
  /** Snapshots that were given out and not disposed of. */
  openSnapshots(): number;
  /** How many calls went wrong. */
  injected(): number;
  /** Resolves when every late answer has come. */
  settled(): Promise<void>;
}

export function faultyWorld(world: World, plan: FaultPlan): FaultyWorld {
  const { rng, lateMs, calls = FAULTY_CALLS, faults = FAULTS } = plan;
  const open = new Set<Session>();
  const held = new Set<Snapshot>();
  const inners = new WeakMap<Session, Session>();
  const late = new Set<Promise<unknown>>();
  let injected = 0;

  /** Do `work`, or go wrong. What comes is as wrong as it can be, so its type is a lie. */
  const perhaps = <T>(call: FaultyCall, work: () => T): T => {
    if (!calls.includes(call) || !rng.chance(plan.rate)) return work();
    injected++;
    return goWrong(call, rng.pick(faults), work) as T;
  };

  const goWrong = (call: FaultyCall, fault: Fault, work: () => unknown): unknown => {
    if (fault === 'throws') throw new Error(`${call} is broken`);
    if (fault === 'throws something hostile') throw rng.pick(hostileThrows)();
    if (fault === 'rejects') return Promise.reject(rng.pick([() => new Error('later'), ...hostileThrows])());
    if (fault === 'never settles') return new Promise(() => {});
    if (fault === 'comes late') {
      const answer = new Promise((resolve) => setTimeout(resolve, lateMs)).then(work);
      late.add(answer);
      void answer.catch(() => {}).then(() => late.delete(answer));
      return answer;
    }
    if (fault === 'gives a wrong field' && call === 'step')
      return withWrongField(work() as Promise<StepResult>, rng);
    return rng.pick(wrongValues)();
  };

  const wrap = (inner: Session): Session => {
    const session: Session = {
      roles: inner.roles,
      toMove: () => perhaps('toMove', () => inner.toMove()),
      observe: (role) => perhaps('observe', () => inner.observe(role)),
      anchor: (role) => perhaps('anchor', () => inner.anchor(role)),
      step: (action, signal) => perhaps('step', () => inner.step(action, signal)),
      render: () => perhaps('render', () => inner.render?.() ?? ''),
      ...(inner.snapshot && {
        snapshot: () => perhaps('snapshot', async () => wrapSnapshot(await inner.snapshot!())),
      }),
      close: () => {
        open.delete(session);
        return perhaps('close', () => inner.close());
      },
    };
    open.add(session);
    inners.set(session, inner);
    return session;
  };

  const wrapSnapshot = (inner: Snapshot): Snapshot => {
    const snapshot: Snapshot = {
      cost: inner.cost,
      open: (options) => perhaps('snapshot.open', async () => wrap(await inner.open(options))),
      dispose: () => {
        held.delete(snapshot);
        return perhaps('dispose', () => inner.dispose());
      },
    };
    held.add(snapshot);
    return snapshot;
  };

  const protocol: ActionProtocol = {
    ...world.protocol,
    parse: (text) => perhaps('parse', () => world.protocol.parse(text)),
    thought: (text) => perhaps('thought', () => world.protocol.thought?.(text) ?? ''),
  };

  return {
    world: {
      ...world,
      protocol,
      open: (task, ...chance) => perhaps('open', async () => wrap(await world.open(task, ...chance))),
      script: (session, kind, choices) =>
        perhaps('script', () => world.script?.(inners.get(session) ?? session, kind, choices)),
    },
    openSessions: () => open.size,
    openSnapshots: () => held.size,
    injected: () => injected,
    settled: async () => {
      while (late.size > 0) await Promise.allSettled(late);
    },
  };
}

/** A step result of which one field is wrong. */
async function withWrongField(result: Promise<StepResult>, rng: Rng): Promise<unknown> {
  const field = rng.pick(['rewards', 'done', 'success', 'valid', 'info'] as const);
  const wrong: readonly unknown[] = {
    rewards: [null, { agent: Number.NaN }, { agent: 1e308 }, { agent: '1' }, { nobody: 1 }, { agent: 1n }],
    done: [undefined, null, 'yes', 1, {}],
    success: [null, undefined, true, { agent: 1 }, { nobody: true }],
    valid: [undefined, null, 'yes'],
    info: hostileInfo.map((make) => make()),
  }[field];
  return { ...(await result), [field]: rng.pick(wrong) };
}
