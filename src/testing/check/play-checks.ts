/** Solvable, not to be won without the task, limited, varied: judged from what players did. */

import type { JsonObject } from '../../core/json/json.ts';
import { mean, type Play } from './players.ts';
import type { Checked, Finding } from './report.ts';
import { searchSuccess } from './search.ts';
import { type Plays, placeOf, type Subject } from './subject.ts';

/** Shown actions of a counterexample. */
const shown = (options: JsonObject, { place, actions }: Play): JsonObject => ({
  options,
  ...place,
  actions: actions.slice(0, 40),
});

const everyPlay = ({ expert, random, others, groups }: Plays): readonly Play[] => [
  ...expert,
  ...random,
  ...[...others.values()].flat(),
  ...groups.flat(),
];

/** The expert solves what can be solved; where it does not, or there is none, a search looks whether anybody could. */
export async function checkSolvable(subject: Subject, plays: Plays): Promise<Checked> {
  const { options, world } = subject;
  const { expert } = plays;
  const findings: Finding[] = [];
  const all = everyPlay(plays);
  const refused = expert.find((play) => play.refused !== undefined);
  if (refused)
    findings.push({
      fault: `the expert's action ${JSON.stringify(refused.actions[refused.refused!])} is refused`,
      counterexample: shown(options, refused),
      next: 'solve() returns an action that step() takes.',
    });
  const failed = expert.filter(({ success }) => !success);
  const rate = expert.length === 0 ? 0 : 1 - failed.length / expert.length;
  if (!all.some(({ success }) => success))
    findings.push({
      fault: `nobody ever succeeded: ${all.length} episodes of the expert, random and other players`,
      counterexample: shown(options, failed[0] ?? all[0]!),
      next: 'Look whether success is ever true, and whether the goal can be reached within maxTurns.',
    });
  else if (world.roles.length === 1 && expert.length > 0 && rate < 0.5)
    findings.push({
      fault: `the expert solves ${expert.length - failed.length} of ${expert.length} tasks`,
      counterexample: shown(options, failed[0]!),
      next: 'Correct solve(), or draw tasks that it can solve.',
    });
  const hopeless =
    world.roles.length === 1
      ? await firstHopeless(subject, expert.length > 0 ? failed : plays.random)
      : undefined;
  if (hopeless)
    findings.push({
      fault: `a task cannot be solved: none of the ${hopeless.states} states that can be reached is a success`,
      counterexample: shown(options, hopeless.play),
      next: 'Draw only tasks that can be solved (drawnTasks takes accepts).',
    });
  return {
    check: 'solvable',
    seen: expert.length === 0 ? 'no expert' : `expert ${rate.toFixed(2)}`,
    findings,
  };
}

async function firstHopeless(subject: Subject, failed: readonly Play[]) {
  for (const play of failed.slice(0, 5)) {
    const found = await searchSuccess(subject.world, placeOf(subject, play.place.seed).task, play.place.seed);
    if (found?.success === false) return { play, states: found.states };
  }
  return undefined;
}

export function checkRewards({ world, options }: Subject, plays: Plays): Checked {
  const all = everyPlay(plays);
  const outcomes = all.map(({ outcome }) => outcome);
  const [least, most] = [Math.min(...outcomes), Math.max(...outcomes)];
  const seen = `returns ${least.toFixed(2)} to ${most.toFixed(2)}`;
  const [low, high] = world.returns ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const outside = all.find(({ outcome }) => outcome < low - 1e-9 || outcome > high + 1e-9);
  const findings = outside && [
    {
      fault: `a return of ${outside.outcome} is outside ${low} to ${high}`,
      counterexample: shown(options, outside),
      next: 'Correct the reward, or the range in returns.',
    },
  ];
  return {
    check: 'rewards',
    seen: world.returns ? `${seen} of ${low} to ${high}` : seen,
    findings: findings ?? [],
  };
}

/** Nobody does as well as the expert without the task, and nobody earns as much without success. */
export function checkHackable({ world, options }: Subject, { expert, random, others }: Plays): Checked {
  if (world.roles.length > 1)
    return { check: 'hackable', seen: 'not measured with several roles', findings: [] };
  const best = expert.length === 0 ? undefined : mean(expert.map(({ outcome }) => outcome));
  const rivals = [...others].filter(([name]) => name !== 'beginner' && name !== 'farmer');
  const findings: Finding[] = [];
  for (const [name, plays] of [['random', random] as const, ...rivals]) {
    if (plays.length === 0) continue;
    const outcome = mean(plays.map((play) => play.outcome));
    const rate = mean(plays.map(({ success }) => (success ? 1 : 0)));
    const target = expert.slice(0, plays.length);
    const solved = mean(target.map(({ success }) => (success ? 1 : 0)));
    const same =
      target.length > 0 && outcome >= mean(target.map((play) => play.outcome)) - 1e-9 && rate >= solved;
    if (!same && rate < 0.95) continue;
    findings.push({
      fault: `the ${name} player earns ${outcome.toFixed(2)} and succeeds in ${rate.toFixed(2)}, ${best === undefined ? 'which is almost always' : `the expert earns ${best.toFixed(2)}`}`,
      counterexample: shown(options, plays.find(({ success }) => success) ?? plays[0]!),
      next: 'Make the right action depend on the task, or the reward on the goal.',
    });
    break;
  }
  const idle = [...others.values(), random].flat().filter(({ success }) => !success);
  const paid = best === undefined ? [] : idle.filter(({ outcome }) => outcome > best + 1e-9);
  const farmed = paid.length >= Math.max(2, 0.02 * idle.length) ? paid[0] : undefined;
  if (farmed)
    findings.push({
      fault: `an episode without success earns ${farmed.outcome.toFixed(2)}, more than the expert's ${best!.toFixed(2)}`,
      counterexample: shown(options, farmed),
      next: 'Pay a part of the way once only, or less than the goal.',
    });
  return { check: 'hackable', seen: `random, farmer and ${rivals.length} constant players`, findings };
}

export function checkEnds({ world, options }: Subject, plays: Plays): Checked {
  const all = everyPlay(plays);
  const thrown = all.find((play) => play.thrown !== undefined);
  const ended = all.filter(({ done }) => done).length;
  const findings: Finding[] = [];
  if (thrown)
    findings.push({
      fault: `an episode threw: ${thrown.thrown}`,
      counterexample: shown(options, thrown),
      next: 'A step answers every action, also a wrong one.',
    });
  else if (ended === 0)
    findings.push({
      fault: `none of ${all.length} episodes ended by itself within ${world.maxTurns} turns`,
      counterexample: shown(options, plays.expert[0] ?? all[0]!),
      next: 'Set done at the goal, and a maxTurns that the expert can keep.',
    });
  return {
    check: 'ends',
    seen: `${ended} of ${all.length} episodes within ${world.maxTurns} turns`,
    findings,
  };
}

/** What is read has to tell states apart, within an episode or between tasks. */
export function checkObservations({ options }: Subject, plays: Plays): Checked {
  const all = everyPlay(plays);
  let moved = 0;
  let told = 0;
  for (const { looks } of all) {
    // The opening has instructions that no later turn has.
    const later = looks.slice(1);
    for (const [turn, look] of later.slice(1).entries()) {
      if (look.anchor === later[turn]!.anchor) continue;
      moved++;
      if (look.text !== later[turn]!.text) told++;
    }
  }
  const openings = new Set(all.map(({ looks }) => looks[0]?.text)).size;
  const blind = told === 0 && openings === 1;
  const findings =
    blind && moved > 0
      ? [
          {
            fault: `the observation never changed, in ${moved} changes of the state`,
            counterexample: shown(options, all.find(({ looks }) => looks.length > 2) ?? all[0]!),
            next: 'Say in each observation what the agent needs to choose its next action.',
          },
        ]
      : [];
  return { check: 'observations', seen: `${openings} openings, ${told} of ${moved} changes seen`, findings };
}

/** A method that compares the members of a group learns nothing where all earn the same. */
export function checkVariance({ options }: Subject, { groups }: Plays): Checked {
  const full = groups.filter((members) => members.length > 1);
  const varied = full.filter((members) => new Set(members.map(({ outcome }) => outcome)).size > 1).length;
  const findings =
    full.length > 0 && varied === 0
      ? [
          {
            fault: `all members of ${full.length} groups earned the same, half of them with the expert's help`,
            counterexample: shown(options, full[0]![0]!),
            next: 'Let the reward tell a better episode from a worse one.',
          },
        ]
      : [];
  return {
    check: 'variance',
    seen: full.length === 0 ? 'no players' : `in ${varied} of ${full.length} groups`,
    findings,
  };
}
