/** What credit gave is stored with the episodes, and can be found again from them alone. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Episode, Group, Role } from '../core/episode.ts';
import { Rng } from '../core/rng.ts';
import { madeGroup, playedEpisode } from '../core/testing/made-episodes.ts';
import { randomGroup } from '../core/testing/random-episodes.ts';
import { roleGroups } from '../core/trajectory.ts';
import { creditMethods } from '../credit/methods.ts';
import type { Credit, CreditTrajectory } from '../credit/rollouts.ts';
import { creditView } from '../credit/view.ts';
import { keepUsable } from '../curation/usable.ts';
import { candidatesOf, creditInput, type SampleScores } from './batch.ts';
import { type Credited, withCredit } from './stored-credit.ts';

/** The episode with all that an environment may say of a transition, at random. */
function toldAt(rng: Rng, episode: Episode): Episode {
  const share = (): number => rng.int(65) / 64;
  const call = () => ({ name: rng.pick(['search', 'open']), arguments: { q: rng.int(2) } });
  return {
    ...episode,
    stop: rng.chance(0.15) ? 'failed:tool' : rng.chance(0.2) ? 'context-overflow' : 'done',
    transitions: episode.transitions.map((transition) => ({
      ...transition,
      anchor: rng.pick(['a', 'b', 'c']),
      valid: rng.chance(0.8),
      facts: {
        dense: [share(), share()],
        answerProbability: share(),
        calls: [call()],
        progress: share(),
        answer: rng.pick(['x', 'y']),
        correct: rng.chance(0.5),
        actionCount: 2,
        effectiveActions: rng.int(3),
        labelCorrect: rng.chance(0.5),
        counterfactual: share(),
        entityShare: share(),
        goldenCalls: [call(), call()],
        neededCalls: 1,
        mode: rng.pick(['instant', 'agentic']),
      },
    })),
  };
}

const random: fc.Arbitrary<Group[]> = fc
  .record({ seed: fc.nat(), groups: fc.integer({ min: 1, max: 3 }) })
  .map(({ seed, groups }) =>
    Array.from({ length: groups }, (_, group) => {
      const rng = Rng.of('told', seed, group);
      const made = randomGroup(rng.uint32(), 1 + rng.int(4)).group;
      // Groups are told apart by their keys.
      const keyed = <T extends { readonly group: number }>(key: T): T => ({ ...key, group });
      return {
        step: 1,
        group,
        members: made.members.map((episode) => {
          const { key, branchedFrom } = episode;
          return toldAt(rng, {
            ...episode,
            key: keyed(key),
            ...(branchedFrom && {
              branchedFrom: { ...branchedFrom, episode: keyed(branchedFrom.episode) },
            }),
          });
        }),
      };
    }),
  );

/** As a step does it: scores of all samples, credit of the usable ones, stored with the groups. */
function stored(
  groups: readonly Group[],
  credit: Credit,
  needs: readonly string[],
  critic: boolean,
): Group[] {
  const usable = keepUsable(roleGroups(groups), 1).groups.flatMap(({ members }) => members);
  // Of a role that takes no step an environment says nothing.
  const told = usable.filter(
    ({ turns }) => !needs.includes('entityShare') || turns.some(({ transition }) => transition),
  );
  const candidates = candidatesOf(told);
  const rng = Rng.of('scores');
  const inputs = candidates.map((candidate) => {
    const score = () => candidate.samples.map(({ ids_T }) => Float32Array.from(ids_T, () => rng.next()));
    const scores: SampleScores = critic ? { values: score(), entropies: score() } : {};
    return creditInput(candidate, 1, scores);
  });
  const { credits } = credit(inputs, {});
  const credited = new Map(
    credits.map((own, index): [string, Credited] => [own.id, { credit: own, input: inputs[index]! }]),
  );
  return withCredit(groups, credited, 1);
}

/** What a method is given that reads the stored groups: those in the baseline, group by group and role by role. */
function readBack(groups: readonly Group[]): { role: Role; episode: Episode; read: CreditTrajectory }[] {
  return groups.flatMap((group) =>
    roleGroups([group]).flatMap(({ role, members }) => {
      const byId = new Map(members.map(({ id, episode }) => [id, episode]));
      return creditView(group, role)
        .map((read) => ({ role, read, episode: byId.get(read.id)! }))
        .filter(({ episode }) => episode.credit?.[role]?.inBaseline);
    }),
  );
}

const needsCritic = (needs: readonly string[]): boolean =>
  needs.some((field) => /\.(values|entropies)$/.test(field));

describe.each(creditMethods)('$name', ({ create, needs, critic }) => {
  test('property: stored episodes give the advantages that are stored with them', () => {
    fc.assert(
      fc.property(random, (groups) => {
        const { credit } = create();
        const after = stored(groups, credit, needs, critic === true || needsCritic(needs));
        const back = readBack(structuredClone(after));
        const again = credit(
          back.map(({ read }) => read),
          {},
        );
        for (const [index, { turnAdvantages_K, tokenAdvantages_T }] of again.credits.entries()) {
          const { episode, role } = back[index]!;
          const { advantages_K, advantages_T, trainedIn } = episode.credit![role]!;
          expect(advantages_K).toEqual(turnAdvantages_K);
          expect(advantages_T).toEqual(tokenAdvantages_T && [...tokenAdvantages_T]);
          expect(trainedIn).toBe(1);
        }
        expect(back.length).toBe(
          after.flatMap(({ members }) => members.flatMap(({ credit: of = {} }) => Object.keys(of))).length,
        );
      }),
      { numRuns: 25 },
    );
  });
});

test('values and entropies are stored token after token, and read back turn by turn', () => {
  const group = madeGroup(
    playedEpisode(0, [{ written: 2 }, { written: 1, call: { trainable: 'scripted' } }, { written: 1 }]),
  );
  const [candidate] = candidatesOf(roleGroups([group])[0]!.members);
  const values = candidate!.samples.map(({ ids_T }) => Float32Array.from(ids_T, (_, token) => token));
  const input = creditInput(candidate!, 1, { values, entropies: values });
  const credit = { id: input.id, turnAdvantages_K: [1, 2, 3] };
  const [after] = withCredit([group], new Map([[input.id, { credit, input }]]), 4);
  expect(after!.members[0]!.credit).toEqual({
    agent: {
      inBaseline: true,
      inLoss: true,
      weight: 1,
      trainedIn: 4,
      advantages_K: [1, 2, 3],
      values: [1, 2, 6],
      entropies: [1, 2, 6],
    },
  });
  expect(creditView(after!, 'agent')[0]!.turns.map((turn) => turn.values)).toEqual([[1, 2], [], [6]]);
  expect(creditView(after!, 'agent')).toEqual([input]);
});

test('episodes without credit stay as they are', () => {
  const group = madeGroup(playedEpisode(0, [{}]), playedEpisode(1, [{}]));
  const [view] = creditView(group, 'agent');
  const credit = { id: view!.id, turnAdvantages_K: [0] };
  const [after] = withCredit([group], new Map([[view!.id, { credit, input: view! }]]), 1);
  expect(after!.members[0]!.credit).toBeDefined();
  expect(after!.members[1]).toBe(group.members[1]);
  expect(withCredit([group], new Map(), 1)[0]!.members).toEqual(group.members);
});
