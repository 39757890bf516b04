/** The curations of a run, one after another, those that insert first: what is compared is known only then. */

import { badDefinition } from '../core/definition.ts';
import type { Choice, Episode, Group, Role } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import type { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json/json.ts';
import { Rng } from '../core/rng.ts';
import { type RoleGroup, roleGroups } from '../core/trajectory.ts';
import { withAbsentRoles } from './absent-roles.ts';
import type { Insertion, OpenCuration } from './curation.ts';
import { insertEpisodes, type ReadGroups } from './insert.ts';
import { keepUsable, type UsableGroups, withMembers } from './usable.ts';

export interface CurationMoment {
  readonly step: number;
  readonly round: number;
  /** Groups of a full batch. */
  readonly batch: number;
  /** A group with fewer usable episodes is dropped. */
  readonly minimumMembers: number;
  readonly seed: string | number;
  /** Whether the groups are all of the step, not a part of them. */
  readonly whole: boolean;
  /** Of each curation, by its name. */
  readonly memory: Readonly<Record<string, Json>>;
  readonly read: ReadGroups;
  /** What learners play of groups; default: everything. */
  readonly learned?: (groups: readonly RoleGroup[]) => readonly RoleGroup[];
}

export interface Curated {
  /** With inserted episodes. */
  readonly groups: readonly Group[];
  readonly usable: UsableGroups;
  /** Those in the baseline, with their choices. */
  readonly learned: readonly RoleGroup[];
  /** Groups that a further round is to play. */
  readonly wanted: number;
}

const leave: Choice = { inBaseline: false, inLoss: false, weight: 0 };

/** @throws TurnwiseError `definition-invalid`, `definition-failed` */
export async function curate(
  played: readonly Group[],
  curations: ReadonlyMap<string, OpenCuration>,
  moment: CurationMoment,
): Promise<Curated> {
  const { minimumMembers, step, round, batch } = moment;
  const choices = new Choices();
  let groups = played;
  const rolesOf = (some: readonly Group[]): readonly RoleGroup[] =>
    moment.learned?.(roleGroups(some)) ?? roleGroups(some);
  let roles = rolesOf(groups);
  let usable = keepUsable(roles, minimumMembers);
  let wanted = 0;
  const brought = new Set<string>();
  let isFirst = true;
  for (const [name, curation] of insertingFirst(curations)) {
    const left = choices.of(usable.groups);
    const isIn = (episode: Episode, role: Role): boolean => left.get(episode)?.has(role) ?? false;
    const given = withMembers(groups, (episode) => left.has(episode));
    const rng = Rng.of('curation', moment.seed, name, step, round);
    const memory = moment.memory[name] ?? null;
    const chosen = curation.choose(given, { step, round, batch, isIn, memory, rng });
    wanted = Math.max(wanted, chosen.wanted ?? 0);
    // No curation sees what an earlier one left out of the baseline: an episode that was brought once stays as that left it.
    const insert = (chosen.insert ?? []).filter(({ episode }) => !brought.has(keyText(episode)));
    if (insert.length > 0) {
      if (!curation.inserts && !(isFirst && moment.whole)) throw undeclared(curation, insert);
      const joined = await insertEpisodes(groups, given, insert, moment.read, {
        step,
        subject: curation.subject,
      });
      for (const { episode } of insert) brought.add(keyText(episode));
      for (const { key } of joined.prefixes) brought.add(keyText(key));
      groups = joined.groups;
      roles = rolesOf(groups);
      // New groups are as small as they were made.
      usable = keepUsable(roles, minimumMembers, ({ group }) => joined.fresh.has(group));
      for (const episode of joined.prefixes)
        for (const role of Object.keys(episode.outcome)) choices.add(episode, role, leave);
    }
    isFirst = false;
    if (chosen.choice) {
      for (const [episode, ofRoles] of choices.of(usable.groups)) {
        for (const role of ofRoles) choices.add(episode, role, chosen.choice(episode, role));
      }
    }
  }
  return { groups, usable, wanted, learned: withAbsentRoles(choices.applied(usable.groups), roles) };
}

/** Otherwise as in the settings. */
function insertingFirst(curations: ReadonlyMap<string, OpenCuration>): [string, OpenCuration][] {
  return [...curations].sort(([, a], [, b]) => Number(b.inserts) - Number(a.inserts));
}

/** One that does not say that it inserts may do so where it is asked first all the same. */
const undeclared = ({ subject }: OpenCuration, insert: readonly Insertion[]): TurnwiseError =>
  badDefinition(
    subject,
    'inserts episodes after another curation was asked, or into a part of a step, and does not say so',
    insert[0],
    'inserts: true in its definition',
  );

/** What was chosen so far about roles of episodes; where nothing was, they are in everything. */
class Choices {
  readonly #choices = new Map<Episode, Map<Role, Choice>>();

  add(episode: Episode, role: Role, choice: Choice): void {
    const ofEpisode = this.#choices.get(episode) ?? new Map<Role, Choice>();
    this.#choices.set(episode, ofEpisode);
    const before = ofEpisode.get(role);
    ofEpisode.set(role, before ? both(before, choice) : choice);
  }

  /** The roles that are still in the baseline, by episode. */
  of(groups: readonly RoleGroup[]): Map<Episode, Set<Role>> {
    const left = new Map<Episode, Set<Role>>();
    for (const { role, members } of groups) {
      for (const { episode } of members) {
        if (this.#choices.get(episode)?.get(role)?.inBaseline === false) continue;
        left.set(episode, (left.get(episode) ?? new Set<Role>()).add(role));
      }
    }
    return left;
  }

  /** The groups with those that are in the baseline; groups without any are left out. */
  applied(groups: readonly RoleGroup[]): readonly RoleGroup[] {
    if (this.#choices.size === 0) return groups;
    return groups.flatMap((group) => {
      const members = group.members.flatMap((member) => {
        const choice = this.#choices.get(member.episode)?.get(group.role);
        if (choice === undefined) return [member];
        return choice.inBaseline || hasAdvantage(choice) ? [{ ...member, choice }] : [];
      });
      return members.length > 0 ? [{ ...group, members }] : [];
    });
  }
}

function both(a: Choice, b: Choice): Choice {
  const weights_K =
    a.weights_K && b.weights_K
      ? a.weights_K.map((weight, k) => weight * (b.weights_K?.[k] ?? 1))
      : (a.weights_K ?? b.weights_K);
  const advantage = a.advantage ?? b.advantage;
  return {
    inBaseline: a.inBaseline && b.inBaseline,
    inLoss: a.inLoss && b.inLoss,
    weight: a.weight * b.weight,
    ...(weights_K && { weights_K }),
    ...(advantage !== undefined && { advantage }),
  };
}

/** Whether it is learned from without being compared. */
export const hasAdvantage = ({ inBaseline, inLoss, advantage }: Choice): boolean =>
  !inBaseline && inLoss && advantage !== undefined;
