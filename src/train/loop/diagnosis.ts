/**
 * Why a policy learns nothing: looked at in the first steps of a run, where changing a setting costs the least. Tells how its
 * turns look, and which settings to try.
 */

import type { Call } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import { actOf, type RoleGroup, type Turn } from '../../core/trajectory.ts';
import { type ActChoices, firstChoices } from '../../rollout/act-choices.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Learner } from '../kit/learner.ts';
import type { Credited } from '../kit/stored-credit.ts';
import type { Metrics, StoredEvent } from './events.ts';

/** Steps that are looked at. */
const STEPS = 2;

/** From these shares on, a finding is told. */
const LIMITS = { invalid: 0.5, silent: 0.75, cut: 0.25, entropy: 0.02 } as const;

/** Characters of an example. */
const EXAMPLE = 60;

export interface Diagnosis {
  /** Of all turns; with up to three that were different. */
  readonly invalidShare: number;
  readonly invalidExamples: readonly string[];
  /** Groups in which no turn has an advantage, and those in which all episodes have the same return. */
  readonly silentShare: number;
  readonly unanimousShare: number;
  /** Nats a token. */
  readonly entropy: number;
  /** Completions that the length limit ended. */
  readonly cutShare: number;
  /** Episodes that ended because the next prompt did not fit into the context. */
  readonly overflowShare: number;
  /** Why acts are not chosen among the legal ones, where most turns are invalid and nothing can be set about it. */
  readonly free?: string;
  /** Settings to try, as the command line takes them. */
  readonly next: readonly string[];
}

/**
 * What stands in the way of learning; undefined where nothing does.
 *
 * @param choices the legal acts where an episode of a task begins; asked where most turns are invalid
 */
export async function diagnose(
  groups: readonly RoleGroup[],
  metrics: Metrics,
  credited: ReadonlyMap<string, Credited> | undefined,
  config: TrainConfig,
  choices: (task: Json) => Promise<ActChoices>,
): Promise<Diagnosis | undefined> {
  const members = groups.flatMap((group) => group.members);
  const turns = members.flatMap((trajectory) => trajectory.turns);
  const acts = turns.flatMap((turn) => actOf(turn) ?? []);
  const overflowing = metrics['stop/context-overflow'] ?? 0;
  if (acts.length === 0 && overflowing === 0) return undefined;
  const invalid = turns.filter(({ transition }) => transition?.valid === false);
  const isSilent = ({ members }: RoleGroup): boolean =>
    members.every(({ id }) => {
      const credit = credited?.get(id)?.credit;
      return [...(credit?.tokenAdvantages_T ?? credit?.turnAdvantages_K ?? [])].every((value) => value === 0);
    });
  const found = {
    invalidShare: share(invalid.length, turns.length),
    invalidExamples: examplesOf(invalid),
    silentShare: credited ? share(groups.filter(isSilent).length, groups.length) : 0,
    unanimousShare: metrics['groups/constant_share'] ?? 0,
    entropy: metrics['policy/entropy'] ?? Number.NaN,
    overflowShare: share(overflowing, Math.max(members.length, overflowing)),
    cutShare: share(acts.filter(isCut).length, acts.length),
  };
  const solved = share(members.filter(({ success }) => success).length, members.length);
  const isSolved = solved > LIMITS.silent;
  const isInvalid = found.invalidShare >= LIMITS.invalid;
  const legal = isInvalid ? await choices(members[0]!.episode.task) : undefined;
  const next = [
    ...(isInvalid ? forInvalid(config, legal) : []),
    ...(found.silentShare >= LIMITS.silent && !isSolved ? forSilence(config) : []),
    ...(found.overflowShare >= LIMITS.cut ? forOverflow(config) : []),
    ...(found.cutShare >= LIMITS.cut ? forCuts(config) : []),
    ...(found.entropy < LIMITS.entropy && !isSolved ? ['--set rollout.temperature=1.2'] : []),
  ];
  if (next.length === 0) return undefined;
  return { ...found, ...(legal && 'free' in legal && { free: legal.free }), next };
}

/** The warning of a step, counted from 1; none after the first few. */
export async function diagnosisWarning(
  step: number,
  ...about: Parameters<typeof diagnose>
): Promise<readonly StoredEvent[]> {
  const found = step > STEPS ? undefined : await diagnose(...about);
  if (found === undefined) return [];
  return [
    {
      type: 'warning',
      code: 'hardly-learning',
      message: `step ${step}: ${sentence(found)}`,
      facts: { ...found },
    },
  ];
}

/** The legal acts of a learner, where it could choose among them. */
export function legalActs(
  { world, engine, context, renderer, config, watch }: Learner,
  signal: AbortSignal,
): (task: Json) => Promise<ActChoices> {
  return async (task) => {
    if (world.agent) return { free: 'an agent’s policy writes free text' };
    if (!engine.capabilities.choices) return { free: 'the engine samples free text' };
    const { turnTimeoutMs } = config.rollout;
    return firstChoices(task, { world, context, renderer, turnTimeoutMs, signal, watch });
  };
}

function sentence(found: Diagnosis): string {
  const {
    invalidShare,
    invalidExamples,
    silentShare,
    unanimousShare,
    entropy,
    cutShare,
    overflowShare,
    free,
    next,
  } = found;
  const examples = invalidExamples.map((example) => JSON.stringify(example)).join(', ');
  const parts = [
    `${percent(invalidShare)} of turns invalid${examples === '' ? '' : ` (${examples})`}`,
    `${percent(silentShare)} of groups without any advantage, ${percent(unanimousShare)} with equal returns`,
    `entropy ${entropy.toFixed(2)} a token`,
    `${percent(cutShare)} of completions cut`,
    ...(overflowShare > 0 ? [`${percent(overflowShare)} of episodes longer than the context`] : []),
    ...(free === undefined ? [] : [`acts cannot be restricted to the legal ones: ${free}`]),
  ];
  return `hardly anything can be learned: ${parts.join('; ')}. Try ${next.join(' or ')}`;
}

/** Ways to valid turns. Where acts can be chosen among the legal ones, all are valid at once. */
function forInvalid({ model, clone, rollout }: TrainConfig, legal: ActChoices | undefined): string[] {
  const { steps, demonstrations } = clone;
  const restricted =
    legal && 'texts' in legal && !rollout.choices
      ? ['--set rollout.choices=true (choose among the legal actions)']
      : [];
  if (model.pretrained !== '' && steps === 0)
    return [...restricted, '--set clone.steps=16 (imitate the expert first)'];
  const longer = `--set clone.steps=${2 * Math.max(8, steps)} --set clone.demonstrations=${demonstrations}`;
  return [...restricted, longer];
}

/** Ways to a difference within groups, or to credit that needs none. */
function forSilence({ rollout, credit }: TrainConfig): string[] {
  const ways = [`--set rollout.group=${2 * rollout.group}`];
  return credit.method === 'reinforce'
    ? ways
    : ['--recipe reinforce --set credit.shape.dense={} (credit for each turn)', ...ways];
}

function forCuts({ chat, model }: TrainConfig): string[] {
  if (model.pretrained === '') return [];
  return [`--set chat.maxTurnTokens=${chat.maxTurnTokens === 0 ? 256 : 2 * chat.maxTurnTokens}`];
}

/** The context of a small model follows from its demonstrations. */
function forOverflow({ model }: TrainConfig): string[] {
  return [...(model.pretrained === '' ? [] : ['--set chat.contextLength=TOKENS']), '--set context=latest'];
}

/** Different ones, shortened. */
function examplesOf(turns: readonly Turn[]): string[] {
  const texts = new Set(turns.map((turn) => (actOf(turn)?.text ?? turn.transition?.action ?? '').trim()));
  return [...texts].slice(0, 3).map((text) => (text.length <= EXAMPLE ? text : `${text.slice(0, EXAMPLE)}…`));
}

/** Small models whose actions are one word end every turn at its limit. */
const isCut = ({ finish, sampling }: Call): boolean => finish === 'length' && sampling.maxTokens > 1;

const share = (count: number, of: number): number => (of === 0 ? 0 : count / of);
const percent = (value: number): string => `${Math.round(100 * value)}%`;
