/**
 * A world that goes wrong on purpose, for tests: each call into it, into its sessions and into its protocol fails with a
 * given probability, in one of the ways in which user code fails. Counts the sessions that nobody closed and the snapshots that
 * nobody let go of.
 */

import type { Rng } from '../../core/rng.ts';
import type { ActionProtocol } from '../../env/protocol.ts';
import type { Session, Snapshot, StepResult } from '../../env/session.ts';
import type { World } from '../../env/world.ts';
import { type FaultPlan, Faults } from './faults.ts';
import { hostileInfo } from './hostile-values.ts';

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
/** Calls of a run beside those of its sessions. */
export const FAULTY_RUN_CALLS = ['tasks', 'tasks.at', 'scoreGroup', 'correctThought'] as const;
export type FaultyCall = (typeof FAULTY_CALLS)[number] | (typeof FAULTY_RUN_CALLS)[number];

export interface FaultyWorld {
  readonly world: World;
  /** Sessions that were given out and not closed. */
  openSessions(): number;
  /** Snapshots that were given out and not disposed of. */
  openSnapshots(): number;
  /** How many calls went wrong. */
  injected(): number;
  /** Calls of which at least one went wrong. */
  broken(): readonly FaultyCall[];
  /** Resolves when every late answer has come. */
  settled(): Promise<void>;
}

export function faultyWorld(world: World, plan: FaultPlan<FaultyCall>): FaultyWorld {
  const faults = new Faults(plan);
  const open = new Set<Session>();
  const held = new Set<Snapshot>();
  const inners = new WeakMap<Session, Session>();
  const perhaps = faults.perhaps.bind(faults) as typeof faults.perhaps;
  const innerOf = (session: Session): Session => inners.get(session) ?? session;

  const wrap = (inner: Session): Session => {
    const session: Session = {
      roles: inner.roles,
      toMove: () => perhaps('toMove', () => inner.toMove()),
      observe: (role) => perhaps('observe', () => inner.observe(role)),
      anchor: (role) => perhaps('anchor', () => inner.anchor(role)),
      step: (action, signal) =>
        perhaps(
          'step',
          () => inner.step(action, signal),
          (work) => withWrongField(work(), plan.rng),
        ),
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
      tasks: (split) =>
        perhaps('tasks', () => {
          const { size, at } = world.tasks(split);
          return { size, at: (index) => perhaps('tasks.at', () => at(index)) };
        }),
      script: (session, kind, choices) =>
        perhaps('script', () => world.script?.(innerOf(session), kind, choices)),
      ...(world.scoreGroup && {
        scoreGroup: (episodes, context) => perhaps('scoreGroup', () => world.scoreGroup!(episodes, context)),
      }),
      ...(world.correctThought && {
        correctThought: (turn) =>
          perhaps('correctThought', () => world.correctThought!({ ...turn, session: innerOf(turn.session) })),
      }),
    },
    openSessions: () => open.size,
    openSnapshots: () => held.size,
    injected: () => faults.injected,
    broken: () => faults.broken,
    settled: () => faults.settled(),
  };
}

/** A step result of which one field is wrong. */
async function withWrongField(result: Promise<StepResult>, rng: Rng): Promise<unknown> {
  const field = rng.pick(['rewards', 'done', 'success', 'valid', 'metrics', 'info'] as const);
  const wrong: readonly unknown[] = {
    rewards: [null, { agent: Number.NaN }, { agent: 1e308 }, { agent: '1' }, { nobody: 1 }, { agent: 1n }],
    done: [undefined, null, 'yes', 1, {}],
    success: [null, undefined, true, { agent: 1 }, { nobody: true }],
    valid: [undefined, null, 'yes'],
    metrics: [null, { seen: Number.NaN }, { seen: 'often' }, [1], { seen: 1n }],
    info: hostileInfo.map((make) => make()),
  }[field];
  return { ...(await result), [field]: rng.pick(wrong) };
}
