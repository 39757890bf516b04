/**
 * Acting and learning apart: groups are asked for as far ahead as staleness allows, and handed over in batches to learn from.
 *
 * Step s is asked for once s − 1 − `maxStaleness` steps are learned. Synchronous learning (0, one part, as asked), learning
 * that is stale by k, stream-by-minibatch (several parts) and partial rollouts under new weights (as they end, some extra)
 * are settings, and the loop that learns is the same. A run that goes on asks again for the groups that were under way.
 *
 * Sources: AReaL (2505.24298) for interruptible rollouts and bounded staleness; slime and verl for over-asking.
 */

import type { Group } from '../../core/episode.ts';
import { throwIfCancelled } from '../../core/signals/cancelled.ts';
import { type Begun, Ended } from './ended.ts';
import { olderBy } from './staleness.ts';

export interface BatchSettings {
  /** Most steps that the oldest trained completion of a batch may be behind the learner. */
  readonly maxStaleness: number;
  /** Batches that a step is learned in. */
  readonly parts: number;
  /** Groups are learned from by the step that asked for them, or by the first that they end in. */
  readonly order: 'asked' | 'ended';
  /** Groups under way beyond those of a step, where they are learned from as they end. */
  readonly extra: number;
}

/** What is asked for. */
export interface Ask {
  /** The step that asks, from 1. */
  readonly step: number;
  /** Of the step, from 0. */
  readonly round: number;
  readonly wanted: number;
  /** What earlier rounds of the step played. */
  readonly groups: readonly Group[];
  /** Numbers of those of its groups that are to be played. Absent: all. */
  readonly only?: readonly number[];
}

/** A step that was asked for, as far as its groups are still to be learned from: what a checkpoint keeps of it. */
export interface AskedAhead {
  readonly step: number;
  /** Groups that it asked for. */
  readonly wanted: number;
  /** Groups that it learns from, whoever asked for them. */
  readonly planned: number;
  /** Numbers of those that it asked for and nobody has learned from yet. */
  readonly groups: readonly number[];
}

export interface Actor {
  /** Of the weights of each learner that act now, by its name among the players. */
  readonly versions: ReadonlyMap<string, number>;
  /** Begins to play groups. None: the step has all that it asks for. */
  play(ask: Ask, signal: AbortSignal): Promise<readonly Begun[]>;
  /** Plays a group once more, under the same keys. */
  again(group: Group, signal: AbortSignal): Promise<Group>;
  /** The learners' weights act from now on. */
  publish(): Promise<void>;
}

export interface Batch {
  /** The step that learns from it, from 1. */
  readonly step: number;
  /** Of the step, from 0. */
  readonly part: number;
  /** No other part of the step follows. */
  readonly last: boolean;
  readonly groups: readonly Group[];
  /** Versions by which the oldest completion that is trained on is behind its learner. */
  readonly staleness: number;
  /** Groups that had become too stale, and were asked for again, since the batch before. */
  readonly dropped: number;
}

export interface Batches {
  /** What is learned from next. @throws TurnwiseError `cancelled` where `signal` is aborted, and what ends a run */
  next(signal: AbortSignal): Promise<Batch>;
  /** It was learned from. After the last part of a step the new weights act. */
  learned(batch: Batch): Promise<void>;
  /** Episodes that are under way, or whose group was not handed over yet. */
  readonly underWay: number;
  /**
   * After a step, where groups are learned from as they end: those that a run that goes on from here plays again. Undefined where
   * a step learns from its own: the steps that follow are asked for whole.
   */
  readonly ahead: readonly AskedAhead[] | undefined;
  /** Ends what is under way. Resolves when it has ended. */
  close(): Promise<void>;
}

export interface BatchesOptions extends BatchSettings {
  readonly actor: Actor;
  /** Groups of a step, counted from 1. */
  groups(step: number): number;
  /** Steps learned before. */
  readonly step: number;
  /** Groups that were under way after them. */
  readonly ahead?: readonly AskedAhead[] | undefined;
  /** The last step, as far as is known now: what lies beyond is not asked for. */
  last(): number;
}

/**
 * @example
 * const source = batches({ actor, groups: () => 64, step: 0, last: () => 100, maxStaleness: 1, parts: 1, order: 'asked', extra: 0 });
 * for (let step = 0; step < 100; step++) {
 *   const batch = await source.next(signal);
 *   await learn(batch.groups);
 *   await source.learned(batch);
 * }
 * await source.close();
 */
export function batches(options: BatchesOptions): Batches {
  const { actor, maxStaleness, parts, order, extra } = options;
  const closing = new AbortController();
  let joined: { readonly of: AbortSignal; readonly any: AbortSignal } | undefined;
  const underWay = new Ended();
  let learned = options.step;
  let asked = options.step;
  let before = options.ahead ?? [];
  /** Those of a run that goes on are among the groups of `before`. */
  let spare = order === 'ended' && before.length === 0 ? extra : 0;
  let part = 0;
  let round = 0;
  /** Of the present step, as far as they were handed over. */
  let given: Group[] = [];
  let planned = 0;
  /** Of each step that was asked for, until it is learned and none of its groups is under way. */
  const plans = new Map<number, Pick<AskedAhead, 'wanted' | 'planned'>>();

  /** Aborted with `signal` or at the end; one for all steps of a run, since each would leave a reference in the run's signal. */
  const untilClosed = (signal: AbortSignal): AbortSignal => {
    if (joined?.of !== signal) joined = { of: signal, any: AbortSignal.any([signal, closing.signal]) };
    return joined.any;
  };

  const play = async (ask: Ask, signal: AbortSignal): Promise<number> => {
    const begun = await actor.play(ask, untilClosed(signal));
    for (const group of begun) underWay.add(ask.step, group);
    return begun.length;
  };

  /** Ask for what was under way before, and as far ahead as is allowed. */
  const askAhead = async (signal: AbortSignal): Promise<void> => {
    for (const { step, wanted, planned, groups } of before) {
      asked = Math.max(asked, step);
      await play({ step, round: 0, wanted, groups: [], only: groups }, signal);
      plans.set(step, { wanted, planned });
    }
    before = [];
    // The step that is next is asked for even where the plan has meanwhile shrunk.
    const end = Math.max(learned + 1, Math.min(options.last(), learned + 1 + maxStaleness));
    while (asked < end) {
      asked++;
      const wanted = options.groups(asked) + spare;
      const begun = await play({ step: asked, round: 0, wanted, groups: [] }, signal);
      plans.set(asked, { wanted, planned: Math.max(0, begun - spare) });
      spare = 0;
    }
  };

  return {
    async next(signal) {
      throwIfCancelled(signal);
      await askAhead(signal);
      const step = learned + 1;
      if (part === 0) {
        planned = plans.get(step)!.planned;
        round = 0;
        given = [];
      }
      // Where nothing is played there is nothing to divide.
      const last = part === parts - 1 || planned === 0;
      const size = Math.floor(((part + 1) * planned) / parts) - Math.floor((part * planned) / parts);
      const groups: Group[] = [];
      let dropped = 0;
      while (planned > 0) {
        if (groups.length >= size && !(last && order === 'asked')) break;
        // Groups that are learned from as they end come in one round.
        if (order === 'ended' && underWay.isEmpty) break;
        if (order === 'asked' && !underWay.has(step)) {
          const missing = Math.max(0, size - groups.length);
          const ask = { step, round: ++round, wanted: missing, groups: [...given, ...groups] };
          if ((await play(ask, signal)) === 0) break;
          continue;
        }
        // A step that learns from its own groups was asked for early enough.
        const group = order === 'asked' ? await underWay.firstOf(step) : await underWay.firstEnded();
        if (order === 'asked' || olderBy(actor.versions, [group]) <= maxStaleness) {
          groups.push(group);
          continue;
        }
        dropped++;
        const ended = actor.again(group, untilClosed(signal));
        underWay.add(group.step, { group: group.group, episodes: group.members.length, ended });
      }
      given.push(...groups);
      const staleness = olderBy(actor.versions, groups);
      return { step, part, last, groups, staleness, dropped };
    },
    async learned({ last }) {
      part++;
      if (!last) return;
      learned++;
      part = 0;
      for (const step of plans.keys()) if (step <= learned && !underWay.has(step)) plans.delete(step);
      await actor.publish();
    },
    get underWay() {
      return underWay.episodes;
    },
    get ahead() {
      if (order === 'asked') return undefined;
      return [...plans].map(([step, plan]) => ({ step, ...plan, groups: underWay.groupsOf(step) }));
    },
    close: async () => {
      closing.abort();
      await underWay.settled();
    },
  };
}
