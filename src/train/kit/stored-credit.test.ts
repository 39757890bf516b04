/** The credit of a step is stored with its episodes, and can be computed again from them alone. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Episode, Group } from '../../core/episode.ts';
import { Rng } from '../../core/rng.ts';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { randomGroup } from '../../core/testing/random-episodes.ts';
import { roleGroups, type Trajectory } from '../../core/trajectory.ts';
import { creditTrajectory, creditView } from '../../credit/contract/view.ts';
import { creditMethods } from '../../credit/methods.ts';
import type { Credit } from '../../credit/report/rollouts.ts';
import { withAbsentRoles } from '../../curation/absent-roles.ts';
import { keepUsable } from '../../curation/usable.ts';
import { learnedRollouts } from '../loop/learned-rollouts.ts';
import { candidatesOf, numbersByTurn, turnScores } from './batch.ts';
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

const everything = { inBaseline: true, inLoss: true, weight: 1 };

/** Rewards are multiplied by it. */
const SCALE = 0.5;

/** As a step does it: scores of all samples, credit of the usable ones, stored with the groups. */
function stored(
  groups: readonly Group[],
  credit: Credit,
  needs: readonly string[],
  critic: boolean,
): Group[] {
  const all = roleGroups(groups);
  // Of a role that takes no step an environment says nothing.
  const isTold = ({ turns }: Trajectory): boolean =>
    !needs.includes('entityShare') || turns.some(({ transition }) => transition);
  const left = keepUsable(all, 1).groups.map((group) => ({
    ...group,
    members: group.members.filter(isTold),
  }));
  const told = withAbsentRoles(left, all).flatMap(({ members }) => members);
  const candidates = candidatesOf(told);
  const rng = Rng.of('scores');
  const scores_I = candidates.map(({ samples }) => {
    const score = () => samples.map(({ ids_T }) => Float32Array.from(ids_T, () => rng.next()));
    return { ...(critic && { values: score(), entropies: score() }), bonuses: score() };
  });
  // A teacher's facts come from the recipe, one for each sampled token.
  const turnScores_I = candidates.map((candidate, index) => {
    const scores = scores_I[index]!;
    const gaps = needs.includes('turns[].teacherGaps') && numbersByTurn(candidate, scores.bonuses);
    return turnScores(candidate, scores).map((turn, k) =>
      gaps ? { ...turn, facts: { teacherGaps: gaps.get(k)! } } : turn,
    );
  });
  const inputs = candidates.map(({ trajectory }, index) =>
    creditTrajectory(trajectory, SCALE, turnScores_I[index]),
  );
  const { credits } = credit(inputs, {});
  const credited = new Map(
    credits.map((own, index): [string, Credited] => {
      return [own.id, { credit: own, scores_K: turnScores_I[index]!, choice: everything }];
    }),
  );
  return withCredit(groups, credited, 1);
}

const needsCritic = (needs: readonly string[]): boolean =>
  needs.some((field) => /\.(values|entropies)$/.test(field));

describe.each(creditMethods)('$name', ({ create, needs, critic }) => {
  test('property: stored episodes give the advantages that are stored with them', () => {
    fc.assert(
      fc.property(random, (groups) => {
        const { credit } = create();
        const after = stored(groups, credit, needs, critic === true || needsCritic(needs));
        const read = learnedRollouts(structuredClone(after), SCALE).filter(({ excluded }) => !excluded);
        const again = credit(read, {});
        const roles = new Map(
          roleGroups(after).flatMap(({ members }) => members.map((member) => [member.id, member])),
        );
        for (const { id, turnAdvantages_K, tokenAdvantages_T } of again.credits) {
          const { episode, role } = roles.get(id)!;
          const { advantages_K, advantages_T, trainedIn } = episode.credit![role]!;
          expect(advantages_K).toEqual(turnAdvantages_K);
          expect(advantages_T).toEqual(tokenAdvantages_T && [...tokenAdvantages_T]);
          expect(trainedIn).toBe(1);
        }
        expect(read.length).toBe(
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
  const scores = { values, entropies: values };
  const input = creditTrajectory(candidate!.trajectory, 1, turnScores(candidate!, scores));
  const credit = { id: input.id, turnAdvantages_K: [1, 2, 3] };
  const credited = { credit, scores_K: turnScores(candidate!, scores), choice: everything };
  const [after] = withCredit([group], new Map([[input.id, credited]]), 4);
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
  const credited = { credit, scores_K: [], choice: { inBaseline: true, inLoss: false, weight: 1 } };
  const [after] = withCredit([group], new Map([[view!.id, credited]]), 1);
  expect(after!.members[0]!.credit).toBeDefined();
  expect(after!.members[1]).toBe(group.members[1]);
  expect(withCredit([group], new Map(), 1)[0]!.members).toEqual(group.members);
});
