/** Advantages of stored rollouts by any method: what `turnwise credit` prints, for programs and for people. */

import { turnRewards } from '../kit/columns.ts';
import { cutIntoTurns } from '../kit/tokens.ts';
import { builtInCredit, type CreditCatalogue, composeCredit } from '../shaping/shapings.ts';
import type { StoredRollout } from './node/read-rollouts.ts';
import type { CreditState, TrajectoryCredit } from './rollouts.ts';

export interface TurnReport {
  readonly advantage: number;
  /** The reward that the method computed with, where a shaping or the method itself made it. */
  readonly shapedReward?: number;
  /** One advantage per sampled token, from token-level methods. */
  readonly tokens?: readonly number[];
}

export interface TrajectoryReport {
  readonly id: string;
  readonly groupId: string;
  /** Present where it is in no statistics: its stop reason forbids it, or the run left it out. Its advantages are 0. */
  readonly excluded?: true;
  /** The outcome that the method computed with, where a shaping or the method itself made it. */
  readonly shapedOutcome?: number;
  readonly turns: readonly TurnReport[];
}

export interface CreditReport {
  readonly method: string;
  /** Settings with defaults filled in. */
  readonly config: object;
  /** Reward shapings before it, in order, with their settings. */
  readonly shape?: Readonly<Record<string, object>>;
  /** Present where all of this is how a run computed the credit of the step. */
  readonly asTrained?: { readonly rewardScale: number };
  readonly trajectories: readonly TrajectoryReport[];
}

/**
 * The advantages of all rollouts, in order, as one batch, with the method in `state`: at its beginning, by default. `shape` names the reward
 * shapings before the method, in order, with their options. Refuses unknown methods, shapings and options, and rollouts
 * that lack what the method needs.
 */
export function creditReport(
  methodName: string,
  options: unknown,
  rollouts: readonly StoredRollout[],
  shape: Readonly<Record<string, unknown>> = {},
  state: CreditState = {},
  catalogue: CreditCatalogue = builtInCredit,
): CreditReport {
  const method = catalogue.credit.find(methodName);
  const chosen = composeCredit({ method: methodName, options, shape }, catalogue);
  const { credit, options: config } = chosen;
  const { credits } = credit(
    rollouts.filter((rollout) => !rollout.excluded),
    state,
  );
  const remaining = credits.values();
  const trajectories = rollouts.map((rollout): TrajectoryReport => {
    const { id, groupId } = rollout;
    if (!rollout.excluded) {
      const given = remaining.next().value!;
      const shapedOutcome = given.shaped?.outcome;
      return {
        id,
        groupId,
        ...(shapedOutcome !== undefined && { shapedOutcome }),
        turns: reportTurns(given, rollout),
      };
    }
    const turns = rollout.turns.map(({ tokens }) => ({
      advantage: 0,
      ...(method.level === 'token' && { tokens: new Array<number>(tokens).fill(0) }),
    }));
    return { id, groupId, excluded: true, turns };
  });
  return {
    method: method.name,
    config,
    ...(Object.keys(chosen.shape).length > 0 && { shape: chosen.shape }),
    trajectories,
  };
}

function reportTurns(
  { turnAdvantages_K, tokenAdvantages_T, shaped }: TrajectoryCredit,
  { turns }: StoredRollout,
): TurnReport[] {
  const tokens_K = turns.map(({ tokens }) => tokens);
  const tokenAdvantages = tokenAdvantages_T && cutIntoTurns(tokenAdvantages_T, tokens_K);
  return turnAdvantages_K.map((advantage, k) => ({
    advantage,
    ...(shaped && { shapedReward: shaped.rewards_K[k]! }),
    ...(tokenAdvantages && { tokens: tokenAdvantages[k]! }),
  }));
}

const barWidth = 8;
const anchorWidth = 24;

/** The report as a table with a line per turn: trajectory, turn, anchor, reward (as shaped), advantage and a bar. */
export function creditTable(report: CreditReport, rollouts: readonly StoredRollout[]): string {
  const advantages = report.trajectories.flatMap(({ turns }) =>
    turns.map((turn) => Math.abs(turn.advantage)),
  );
  const largest = advantages.reduce((a, b) => Math.max(a, b), 0);
  const rows = report.trajectories.flatMap((trajectory, index) => {
    const rollout = rollouts[index]!;
    const rewards_K = turnRewards(rollout);
    const label = trajectory.excluded ? `${trajectory.id} (excluded)` : trajectory.id;
    if (rollout.turns.length === 0) return [[label, '-', '', '', '', '']];
    return trajectory.turns.map(({ advantage, shapedReward }, k) => [
      k === 0 ? label : '',
      String(k + 1),
      shorten(rollout.turns[k]!.anchor ?? ''),
      String(Number(format(shapedReward ?? rewards_K[k]!))),
      trajectory.excluded ? '' : format(advantage),
      trajectory.excluded ? '' : bar(advantage, largest),
    ]);
  });
  const header = ['trajectory', 'turn', 'anchor', 'reward', 'advantage', ''];
  const numeric = [false, true, false, true, true, false];
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  );
  const table = [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          numeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
  return report.asTrained ? `${asTrainedLine(report, report.asTrained.rewardScale)}\n\n${table}` : table;
}

/** `Credit as the run computed it: reinforce (gamma=1), after ufo (lambda=0.1), on rewards times 0.5`. */
function asTrainedLine({ method, config, shape = {} }: CreditReport, rewardScale: number): string {
  const withOptions = (name: string, options: object): string => {
    const list = Object.entries(options).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    return list.length === 0 ? name : `${name} (${list.join(', ')})`;
  };
  const shapings = Object.entries(shape).map(([name, options]) => `, after ${withOptions(name, options)}`);
  const scale = rewardScale === 1 ? '' : `, on rewards times ${rewardScale}`;
  return `Credit as the run computed it: ${withOptions(method, config)}${shapings.join('')}${scale}`;
}

/** Negative to the left of the axis, positive to the right, full width for the largest of the report. */
function bar(advantage: number, largest: number): string {
  const length = largest === 0 ? 0 : Math.round((Math.abs(advantage) / largest) * barWidth);
  const blocks = '█'.repeat(length);
  return advantage < 0 ? `${blocks.padStart(barWidth)}│` : `${' '.repeat(barWidth)}│${blocks}`;
}

function shorten(anchor: string): string {
  const oneLine = anchor.replace(/\s+/g, ' ');
  return oneLine.length > anchorWidth ? `${oneLine.slice(0, anchorWidth - 1)}…` : oneLine;
}

/** Four decimals, without a minus sign on zero. */
function format(value: number): string {
  return value.toFixed(4).replace(/^-(?=0\.0000$)/, '');
}
