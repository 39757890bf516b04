/** Curations: which of the played episodes are compared, and which are learned from. */

import { badDefinition, callDefinition } from '../core/definition.ts';
import type { Choice, Episode, EpisodeKey, Group, Role } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import {
  type At,
  type Defined,
  defineRemembering,
  type Now,
  type Remembering,
  type Remembers,
} from '../core/remembers.ts';

/** An earlier episode that joins a group of the step, by its place in the list, or a new one with others of its task. */
export interface Insertion {
  readonly group: number | 'new';
  readonly episode: EpisodeKey;
}

export interface Chosen {
  /** Of each role of each episode, inserted ones included. Default: in the baseline and in the loss, at weight 1. */
  readonly choice?: (episode: Episode, role: Role) => Choice;
  readonly insert?: readonly Insertion[];
  /** Groups that a further round is to play. Default: none. */
  readonly wanted?: number;
}

/** What a curation knows when it is asked. */
export interface ChoiceRound {
  /** Rounds of the step that were played, but one. */
  readonly round: number;
  /** Groups of a full batch: `rollout.tasks`. */
  readonly batch: number;
  /** Whether curations before this one left a role of an episode in; failed ones are out from the beginning. */
  readonly isIn: (episode: Episode, role: Role) => boolean;
}

export interface Curation<O extends object, M extends Json> extends Remembers<O, M> {
  /** Whether it gives weights. Refused for recipes without credit, which could not read them. */
  readonly weighs?: true;
  /** Whether it gives advantages itself, to episodes that are not compared. Refused for recipes without credit, and with a critic. */
  readonly credits?: true;
  /** Whether it inserts episodes: it is asked before those that do not. Refused for steps that are learned in parts. */
  readonly inserts?: true;
  /** Whether it may want further rounds. Refused for steps that are played ahead or learned in parts, which have one. */
  readonly rounds?: true;
  /** Whether it looks at episodes as those of one role. Refused for environments with several. */
  readonly oneRole?: true;
  /**
   * Asked after every round of a step; what it said last counts. `groups` are those that earlier curations left, without
   * episodes that failed and without groups that failures left too small.
   */
  choose(groups: readonly Group[], at: At<O, M> & ChoiceRound): Chosen;
}

/** What `defineCuration` returns. */
export interface DefinedCuration extends Defined<'curation', OpenCuration> {
  readonly weighs: boolean;
  readonly credits: boolean;
  readonly inserts: boolean;
  readonly rounds: boolean;
  readonly oneRole: boolean;
}

/** A curation with its options. */
export interface OpenCuration extends Remembering {
  readonly inserts: boolean;
  choose(groups: readonly Group[], now: Now & ChoiceRound): Chosen;
}

/**
 * Define a curation. Several compose: each sees what the ones before it left, and their choices are multiplied. Those that
 * insert are asked first, the others in the order of the settings: insertion, then groups are found to be constant, then
 * advantages are normalised.
 *
 * An inserted episode is read by its key and becomes a line of the group that it joins: with its key, and with new credit.
 * A memory that holds the key keeps the episode readable.
 *
 * @example
 * // Episodes over the turn limit are in the baseline, not in the loss (Mini-o3, arXiv 2509.07969).
 * export const overTurns = defineCuration({
 *   name: 'over-turns',
 *   summary: 'episodes that ran out of turns are not learned from',
 *   choose: () => ({
 *     choice: ({ stop }) => ({ inBaseline: true, inLoss: stop !== 'turn-limit', weight: 1 }),
 *   }),
 * });
 *
 * Use it with `--set 'curation={"./over-turns.ts":{}}'`, or in code with `settings: { curation: new Map([[overTurns, {}]]) }`.
 *
 * @throws TurnwiseError when it is used: `definition-invalid`, `definition-failed`
 */
export function defineCuration<O extends object = Record<never, never>, M extends Json = null>(
  definition: Curation<O, M>,
): DefinedCuration {
  const { weighs = false, credits = false, inserts = false, rounds = false, oneRole = false } = definition;
  const defined = defineRemembering('curation', definition, ({ at, subject }) => ({
    inserts,
    choose(groups: readonly Group[], { round, batch, isIn, ...now }: Now & ChoiceRound): Chosen {
      const chosen = callDefinition(subject, () =>
        definition.choose(groups, { ...at(now), round, batch, isIn }),
      );
      requireChosen(chosen, groups, subject);
      const { choice } = chosen;
      if (!choice) return chosen;
      return {
        ...chosen,
        choice: (episode, role) =>
          checkedChoice(
            callDefinition(subject, () => choice(episode, role)),
            { weighs, credits },
            subject,
          ),
      };
    },
  }));
  return { ...defined, weighs, credits, inserts, rounds, oneRole };
}

function requireChosen(chosen: Chosen, groups: readonly Group[], subject: string): void {
  if (typeof chosen !== 'object' || chosen === null)
    throw badDefinition(subject, 'chose nothing', chosen, '{ choice?, insert?, wanted? }');
  const { wanted = 0, insert = [] } = chosen;
  if (!Number.isInteger(wanted) || wanted < 0)
    throw badDefinition(subject, 'wants no number of groups', wanted, 'wanted: a whole number from 0');
  const lost = insert.find(({ group }) => group !== 'new' && groups[group] === undefined);
  if (lost)
    throw badDefinition(
      subject,
      'inserts an episode into a group that there is not',
      lost,
      `'new', or a place in the list of ${groups.length} groups`,
    );
}

const isWeight = (weight: unknown): boolean => Number.isFinite(weight) && (weight as number) >= 0;

function checkedChoice(
  choice: Choice,
  { weighs, credits }: Pick<DefinedCuration, 'weighs' | 'credits'>,
  subject: string,
): Choice {
  const { inBaseline, inLoss, weight, weights_K = [], advantage } = choice ?? {};
  const wrong = (problem: string, allowed: string) => badDefinition(subject, problem, choice, allowed);
  if (typeof inBaseline !== 'boolean' || typeof inLoss !== 'boolean')
    throw wrong('made a choice that is none', '{ inBaseline, inLoss, weight }');
  if (advantage !== undefined && (!credits || inBaseline || !Number.isFinite(advantage)))
    throw wrong(
      'gave an advantage to an episode that is compared, or one that is none, or does not say so',
      'a finite number, inBaseline: false, and credits: true in its definition',
    );
  if (inLoss && !inBaseline && advantage === undefined)
    throw wrong(
      'put an episode into the loss and not into the baseline',
      'both, or an advantage: only compared episodes have credit',
    );
  if (!isWeight(weight) || !Array.isArray(weights_K) || !weights_K.every(isWeight))
    throw wrong('gave a weight that is none', 'finite numbers from 0');
  if (!weighs && inLoss && (weight !== 1 || weights_K.some((own) => own !== 1)))
    throw wrong('gives weights and does not say so', 'weighs: true in its definition');
  return choice;
}
