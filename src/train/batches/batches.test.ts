import { expect, test } from 'vitest';
import type { Group } from '../../core/episode.ts';
import { byPolicy, madeCall, madeEpisode, madeKey } from '../../core/testing/made-episodes.ts';
import { type Actor, type Batch, type Batches, type BatchSettings, batches } from './batches.ts';
import { olderBy } from './staleness.ts';

/** Time that passes when nothing else happens: the earliest goes on first. */
class Clock {
  now = 0;
  readonly #waiting: { at: number; go: () => void }[] = [];

  wait(time: number): Promise<void> {
    return new Promise((go) => this.#waiting.push({ at: this.now + time, go }));
  }

  async run<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const done = work.finally(() => {
      over = true;
    });
    done.catch(() => undefined);
    while (!over) {
      await new Promise(setImmediate);
      if (over) break;
      this.#waiting.sort((a, b) => a.at - b.at);
      const next = this.#waiting.shift();
      if (!next) throw new Error('Nothing will ever happen');
      this.now = next.at;
      next.go();
    }
    return done;
  }
}

interface World extends Actor {
  readonly asked: { readonly step: number; readonly round: number; readonly wanted: number; at: number }[];
  readonly replayed: Group[];
}

/** Groups of one episode whose turns take as long as `turnsOf` says, each with the weights that act when it begins. */
function acting(clock: Clock, turnsOf: (group: number) => number, rounds = 1): World {
  let version = 0;
  let count = 0;
  const asked: World['asked'] = [];
  const replayed: Group[] = [];
  const play = async (step: number, group: number): Promise<Group> => {
    const calls = [];
    for (let turn = 0; turn < turnsOf(group); turn++) {
      const by = byPolicy('learner', version);
      await clock.wait(3 + ((group + turn) % 4));
      calls.push(madeCall(turn, 1, { by }));
    }
    return { step, group, members: [madeEpisode(group, calls, [], { key: madeKey({ step, group }) })] };
  };
  return {
    asked,
    replayed,
    get versions() {
      return new Map([['learner', version]]);
    },
    play: async ({ step, round, wanted, only }) => {
      asked.push({ step, round, wanted, at: clock.now });
      if (round >= rounds) return [];
      const groups = only ?? Array.from({ length: wanted }, () => count++);
      return groups.map((group) => ({ group, episodes: 1, ended: play(step, group) }));
    },
    again: (group) => {
      replayed.push(group);
      return play(group.step, group.group);
    },
    publish: async () => {
      version++;
    },
  };
}

interface Trained {
  readonly batches: readonly Batch[];
  readonly groups: readonly Group[];
  readonly time: number;
  readonly mixed: number;
}

async function trained(
  settings: BatchSettings,
  { steps = 6, turnsOf = (group: number) => 1 + ((group * 7) % 5), rounds = 1 } = {},
): Promise<Trained & { readonly actor: World }> {
  const clock = new Clock();
  const actor = acting(clock, turnsOf, rounds);
  const source = batches({ ...settings, actor, groups: () => 8, step: 0, last: () => steps });
  const { signal } = new AbortController();
  const all: Batch[] = [];
  const learn = async (): Promise<void> => {
    for (let step = 0; step < steps; ) {
      const batch = await source.next(signal);
      all.push(batch);
      await clock.wait(6 / settings.parts);
      await source.learned(batch);
      if (batch.last) step++;
    }
  };
  await clock.run(learn());
  const groups = all.flatMap((batch) => batch.groups);
  const versions = groups.map(({ members }) => new Set(members[0]!.calls.map(({ by }) => by.version)).size);
  return {
    batches: all,
    groups,
    time: clock.now,
    mixed: versions.filter((count) => count > 1).length,
    actor,
  };
}

const synchronous: BatchSettings = { maxStaleness: 0, parts: 1, order: 'asked', extra: 0 };

test('synchronous: a step is asked for when the one before is learned, and learns from its own groups in their order', async () => {
  const { batches: all, groups, mixed } = await trained(synchronous);
  expect(all.map(({ step, part, last, staleness }) => [step, part, last, staleness])).toEqual(
    [1, 2, 3, 4, 5, 6].map((step) => [step, 0, true, 0]),
  );
  expect(groups.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6].flatMap((step) => Array(8).fill(step)));
  expect(groups.map(({ group }) => group)).toEqual(Array.from({ length: 48 }, (_, index) => index));
  expect(mixed).toBe(0);
});

test('stale by k: k steps are asked for ahead and never more, and the order stays', async () => {
  const before = await trained(synchronous);
  for (const maxStaleness of [1, 2]) {
    const { batches: all, groups, time } = await trained({ ...synchronous, maxStaleness });
    expect(groups.map(({ group }) => group)).toEqual(Array.from({ length: 48 }, (_, index) => index));
    expect(Math.max(...all.map(({ staleness }) => staleness))).toBe(maxStaleness);
    expect(time).toBeLessThan(before.time);
  }
});

test('by parts: each is handed over when its groups have ended, and the weights change after the last', async () => {
  const { batches: all, mixed, time } = await trained({ ...synchronous, parts: 4, order: 'ended' });
  expect(all).toHaveLength(24);
  expect(all.map(({ groups }) => groups.length)).toEqual(Array(24).fill(2));
  expect(all.slice(0, 5).map(({ step, part, last }) => [step, part, last])).toEqual([
    [1, 0, false],
    [1, 1, false],
    [1, 2, false],
    [1, 3, true],
    [2, 0, false],
  ]);
  expect(mixed).toBe(0);
  expect(time).toBeLessThan((await trained(synchronous)).time);
});

test('partial rollouts: the first to end are learned from, episodes go on under new weights, and no group is lost', async () => {
  const settings: BatchSettings = { maxStaleness: 2, parts: 1, order: 'ended', extra: 4 };
  const { batches: all, groups, mixed, actor } = await trained(settings);
  expect(mixed).toBeGreaterThan(0);
  expect(Math.max(...all.map(({ staleness }) => staleness))).toBeLessThanOrEqual(2);
  expect(new Set(groups.map(({ group }) => group)).size).toBe(48);
  expect(actor.asked[0]).toMatchObject({ step: 1, wanted: 12 });
  expect(actor.asked.slice(1).every(({ wanted }) => wanted === 8)).toBe(true);
});

test('groups that have become too stale are dropped, counted, and asked for again under their keys', async () => {
  const settings: BatchSettings = { maxStaleness: 1, parts: 1, order: 'ended', extra: 4 };
  const {
    batches: all,
    groups,
    actor,
  } = await trained(settings, {
    steps: 9,
    turnsOf: (group) => (group % 8 === 3 ? 6 : 1),
  });
  expect(all.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(actor.replayed.length);
  expect(actor.replayed.length).toBeGreaterThan(0);
  // Each was played again with newer weights before it was learned from.
  const learned = new Map(groups.map((group) => [group.group, group]));
  const taken = actor.replayed.filter(({ group }) => learned.has(group));
  expect(taken.length).toBeGreaterThan(0);
  for (const group of taken) expect(learned.get(group.group)).not.toBe(group);
  expect(Math.max(...all.map(({ staleness }) => staleness))).toBeLessThanOrEqual(1);
  expect(groups).toHaveLength(72);
});

test('a step asks round after round until nothing more is wanted', async () => {
  const { batches: all, actor } = await trained(synchronous, { steps: 2, rounds: 2 });
  expect(actor.asked.map(({ step, round }) => [step, round])).toEqual([
    [1, 0],
    [1, 1],
    [2, 0],
    [2, 1],
  ]);
  expect(all.map(({ groups }) => groups.length)).toEqual([8, 8]);
});

test('an actor that plays nothing leaves batches without groups, and is asked once a step', async () => {
  const { batches: all, actor } = await trained({ ...synchronous, parts: 3 }, { steps: 2, rounds: 0 });
  expect(all.map(({ groups, last }) => [groups.length, last])).toEqual([
    [0, true],
    [0, true],
  ]);
  expect(actor.asked.map(({ round }) => round)).toEqual([0, 0]);
});

test('a group that cannot be played ends the wait, and closing ends and counts what is under way', async () => {
  const clock = new Clock();
  const actor = acting(clock, () => 1);
  const signals: AbortSignal[] = [];
  const failing: Actor = {
    ...actor,
    versions: new Map(),
    play: async (ask, signal) => {
      signals.push(signal);
      const groups = await actor.play(ask, signal);
      if (ask.step !== 2) return groups;
      return [{ group: 0, episodes: 1, ended: Promise.reject(new Error('no weights')) }];
    },
  };
  const settings = { ...synchronous, maxStaleness: 1 };
  const source = batches({ ...settings, actor: failing, groups: () => 2, step: 0, last: () => 9 });
  const { signal } = new AbortController();
  await source.learned(await clock.run(source.next(signal)));
  await expect(clock.run(source.next(signal))).rejects.toThrow('no weights');
  expect(signals[0]!.aborted).toBe(false);
  expect(source.underWay).toBeGreaterThan(0);
  const closed = source.close();
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
  // What is under way may take a while to end.
  await clock.run(closed);
});

test('a run that was asked to stop asks for nothing more', async () => {
  const actor = acting(new Clock(), () => 1);
  const source = batches({ ...synchronous, actor, groups: () => 2, step: 0, last: () => 9 });
  await expect(source.next(AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  expect(actor.asked).toEqual([]);
});

/** The groups that are ahead, by the step that asked for them. */
const groupsAhead = ({ ahead }: Batches): string[] =>
  ahead!.flatMap(({ step, groups }) => groups.map((group) => `${step}/${group}`));

const namesOf = ({ groups }: Batch): string[] => groups.map(({ step, group }) => `${step}/${group}`);

test('where groups are learned from as they end, each that was asked for is learned or ahead, stale ones too', async () => {
  const clock = new Clock();
  const actor = acting(clock, (group) => (group % 8 === 3 ? 6 : 1));
  const settings: BatchSettings = { maxStaleness: 1, parts: 1, order: 'ended', extra: 4 };
  const source = batches({ ...settings, actor, groups: () => 8, step: 0, last: () => 9 });
  const { signal } = new AbortController();
  const learned: string[] = [];
  const seen = new Set<string>();
  const learn = async (): Promise<void> => {
    for (let step = 0; step < 9; step++) {
      const batch = await source.next(signal);
      await clock.wait(6);
      await source.learned(batch);
      learned.push(...namesOf(batch));
      const left = groupsAhead(source);
      for (const name of left) seen.add(name);
      expect(new Set([...learned, ...left]).size).toBe(learned.length + left.length);
      const asked = actor.asked.reduce((sum, { wanted }) => sum + wanted, 0);
      expect(learned.length + left.length).toBe(asked);
    }
  };
  await clock.run(learn());
  expect(actor.replayed.length).toBeGreaterThan(0);
  // A group keeps its step, whichever step it is learned in.
  const all = new Set([...seen, ...learned]);
  expect(new Set([...all].map((name) => name.split('/')[1])).size).toBe(all.size);
});

test('a run that goes on where groups are learned from as they end plays again those that were under way, and no others', async () => {
  const clock = new Clock();
  // The fourth group is under way for longer than the steps that ask ahead.
  const actor = acting(clock, (group) => (group === 3 ? 40 : 1 + (group % 3)));
  const settings: BatchSettings = { maxStaleness: 2, parts: 1, order: 'ended', extra: 2 };
  const steps = 8;
  const { signal } = new AbortController();
  const keys: string[] = [];
  const learn = async (source: Batches, from: number, to: number): Promise<void> => {
    for (let step = from; step < to; step++) {
      const batch = await source.next(signal);
      keys.push(...namesOf(batch));
      await source.learned(batch);
    }
  };
  const parts = { ...settings, actor, groups: () => 4, last: () => steps };
  const stopped = batches({ ...parts, step: 0 });
  await clock.run(learn(stopped, 0, 3));
  const { ahead, underWay } = stopped;
  const left = groupsAhead(stopped);
  expect(left).toHaveLength(underWay);
  // Of a step that was learned, and not all of a later one.
  expect(left).toContain('1/3');
  expect(keys.some((key) => Number(key.split('/')[0]) > 3)).toBe(true);

  const before = actor.asked.length;
  const again = batches({ ...parts, step: 3, ahead });
  await clock.run(learn(again, 3, 4));
  expect(actor.asked.slice(before).map(({ step }) => step)).toEqual([...ahead!.map(({ step }) => step), 6]);
  expect(actor.asked.at(-1)!.wanted).toBe(4);
  await clock.run(learn(again, 4, steps));
  expect(keys).toHaveLength(4 * steps);
  expect(new Set(keys).size).toBe(keys.length);
  // As many as were extra are still under way.
  const rest = groupsAhead(again);
  expect(rest).toHaveLength(settings.extra);
  expect(new Set([...keys, ...rest]).size).toBe(4 * steps + settings.extra);
});

test('each learner has versions of its own: a completion is as old as its own player says', () => {
  const calls = [
    madeCall(0, 1, { by: byPolicy('learner', 11) }),
    madeCall(1, 1, { by: byPolicy('other', 9) }),
    madeCall(2, 1, { by: byPolicy('earlier', 1), trainable: 'other-model' }),
  ];
  const groups = [{ step: 1, group: 0, members: [madeEpisode(0, calls, [])] }];
  const versions = new Map([
    ['learner', 12],
    ['other', 9],
  ]);
  expect(olderBy(versions, groups)).toBe(1);
  expect(olderBy(new Map([...versions, ['other', 12]]), groups)).toBe(3);
});
