/** Curations of a user: over-turn masking, GRPO-RoC, DART's replay of successes, and SPEAR's buffer. */

import {
  type Choice,
  defineCuration,
  type Episode,
  type EpisodeKey,
  type Group,
  type Insertion,
  z,
} from 'turnwise';

const learn: Choice = { inBaseline: true, inLoss: true, weight: 1 };
const leave: Choice = { inBaseline: false, inLoss: false, weight: 0 };

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
const returns = ({ members }: Group): number[] => members.map(({ outcome }) => outcome.agent ?? 0);

const isOver = ({ stop }: Episode): boolean =>
  stop === 'turn-limit' || stop === 'context-overflow' || stop === 'token-limit';

/** Mini-o3, arXiv 2509.07969: over the limit is in the baseline, not in the loss; where the others agree, nothing is learned. */
export const overTurnMasking = defineCuration({
  name: 'over-turn-masking',
  summary: 'episodes over a limit are not learned from',
  choose(groups) {
    const dull = new Set(
      groups
        .filter(({ members }) => {
          const others = members.filter((episode) => !isOver(episode));
          return new Set(others.map(({ outcome }) => outcome.agent)).size < 2;
        })
        .flatMap(({ members }) => members),
    );
    return {
      choice: (episode) => ({ ...learn, inLoss: !isOver(episode) && !dull.has(episode) }),
    };
  },
});

/** GRPO-RoC, arXiv 2508.20722: of twice as many, failures at random, successes with the fewest errors. */
export const roc = defineCuration({
  name: 'resample-on-correct',
  summary: 'failures at random, successes with the fewest errors',
  options: z.strictObject({ keep: z.int().min(1).default(4).describe('Episodes of a group') }),
  choose(groups, { options: { keep }, rng }) {
    const kept = new Set<Episode>();
    const errors = ({ transitions }: Episode): number =>
      transitions.length === 0 ? 0.5 : mean(transitions.map(({ valid }) => (valid ? 0 : 1)));
    for (const { members } of groups) {
      const good = members
        .filter(({ outcome }) => (outcome.agent ?? 0) > 0)
        .sort((a, b) => errors(a) - errors(b));
      const bad = members.filter((episode) => !good.includes(episode));
      const count = Math.min(good.length, Math.round((keep * good.length) / members.length));
      for (const episode of good.slice(0, count)) kept.add(episode);
      for (let n = count; n < keep && bad.length > 0; n++) kept.add(bad.splice(rng.int(bad.length), 1)[0]!);
    }
    return { choice: (episode) => (kept.has(episode) ? learn : leave) };
  },
});

/** The mean entropy of a turn's tokens, or their surprise where the sampler does not tell it. */
function uncertainty({ calls, transitions }: Episode, turn: number): number {
  const call = calls.find(({ id }) => id === transitions[turn]!.call);
  return call?.entropy === undefined ? -mean([...(call?.logprobs ?? [])]) : call.entropy / call.ids.length;
}

type Successes = { readonly [task: string]: readonly EpisodeKey[] };

/** DART, arXiv 2509.23866: one stored success into a failed group; only the turns of the highest entropy are learned from. */
export const successReplay = defineCuration({
  name: 'success-replay',
  summary: 'a stored success joins a failed group; only uncertain turns are learned from',
  options: z.strictObject({
    size: z.int().min(1).default(8).describe('Successes that are kept of a task'),
    keep: z.number().min(0).max(1).default(0.8).describe('Share of turns that are learned from'),
  }),
  weighs: true,
  inserts: true,
  start: (): Successes => ({}),
  choose(groups, { memory, rng, options }) {
    const insert: Insertion[] = [];
    const out = new Set<Episode>();
    for (const [group, own] of groups.entries()) {
      const stored = memory[String(own.members[0]!.key.task)] ?? [];
      if (Math.max(...returns(own)) > 0 || stored.length === 0) continue;
      insert.push({ group, episode: rng.pick(stored) });
      out.add(own.members[0]!);
    }
    const cuts = new Map<Episode, number>();
    for (const { members } of groups) {
      const all = members
        .flatMap((episode) => episode.transitions.map((_, turn) => uncertainty(episode, turn)))
        .sort((a, b) => a - b);
      const cut = all[Math.floor((1 - options.keep) * (all.length - 1))] ?? 0;
      for (const episode of members) cuts.set(episode, cut);
    }
    return {
      insert,
      choice: (episode) =>
        out.has(episode)
          ? leave
          : {
              ...learn,
              weights_K: episode.transitions.map((_, turn) =>
                uncertainty(episode, turn) >= (cuts.get(episode) ?? 0) ? 1 : 0,
              ),
            },
    };
  },
  remember(groups, { memory, options }) {
    const next: Record<string, readonly EpisodeKey[]> = { ...memory };
    for (const { key, success } of groups.flatMap(({ members }) => members)) {
      if (!success.agent) continue;
      const task = String(key.task);
      next[task] = [...(next[task] ?? []), key].slice(-options.size);
    }
    return next;
  },
});

type Buffer = {
  readonly buffer: readonly { readonly episode: EpisodeKey; readonly reward: number }[];
  readonly means: readonly number[];
};

/** SPEAR, arXiv 2509.22601: rows with a positive advantage, replayed as groups of their own. */
export const spear = defineCuration({
  name: 'spear',
  summary: 'episodes of late whose advantage was positive, as groups of their own',
  options: z.strictObject({
    size: z.number().min(0).default(16).describe('Replayed once there are one and a half times as many'),
    tolerate: z.int().min(1).default(5).describe('Steps for which an episode is kept'),
  }),
  inserts: true,
  start: (): Buffer => ({ buffer: [], means: [] }),
  choose(_groups, { memory, options, step }) {
    const sorted = [...memory.means].sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    const good = memory.buffer.filter(
      ({ episode, reward }) => step - episode.step <= options.tolerate && reward >= median,
    );
    const isEnough = good.length > 1.5 * options.size;
    return { insert: isEnough ? good.map(({ episode }) => ({ group: 'new' as const, episode })) : [] };
  },
  remember: (groups, { memory, options, step }) => ({
    means: [...memory.means, ...groups.map((group) => mean(returns(group)))].slice(-10_240),
    buffer: [
      ...memory.buffer.filter(({ episode }) => step - episode.step < options.tolerate),
      ...groups.flatMap(({ members }) =>
        members
          .filter(
            ({ key, credit }) => key.step === step && credit?.agent?.advantages_K.some((own) => own > 0),
          )
          .map(({ key, outcome }) => ({ episode: key, reward: outcome.agent ?? 0 })),
      ),
    ],
  }),
});
