/** A claim from its file to its result: tuning on seeds of its own, then the verdict runs. All of it resumes. */

import { findEnvironment } from '../../run/load/environments.ts';
import { namedIn } from '../arm.ts';
import { type Job, type JobChoice, jobsOf } from '../jobs.ts';
import { type Cell, prepareStudy, type Study, type StudyWorld } from '../study.ts';
import { extended, gridAround, nearBest, type TunedRate, tunedRates, winningEnd } from '../tuning.ts';
import { worldResults } from '../world-results.ts';
import { assignmentsOf, type Claim, claimArms, claimantOf, type StoredClaim } from './claim.ts';
import type { ClaimResult } from './claim-result.ts';

/** Rounds in which a grid may grow before its end is taken as it is. */
const mostExtensions = 3;

export interface ClaimStudy {
  readonly study: Study;
  readonly claim: Claim;
  readonly seeds: { readonly tuning: readonly number[]; readonly verdict: readonly number[] };
}

/** @param root folder of all runs @param verdict other seeds than the claim's: a replication */
export async function prepareClaim(
  { claim }: StoredClaim,
  root: string,
  verdict?: readonly number[],
): Promise<ClaimStudy> {
  const study = prepareStudy({
    worlds: await Promise.all(claim.worlds.map(({ name }) => findEnvironment(name))),
    ...(await namedIn(
      // Claims are about sampled play.
      [
        'evaluation.greedy=false',
        `evaluation.finalTasks=${claim.evaluationEpisodes}`,
        ...assignmentsOf(claim.settings),
      ],
      await claimArms(claim),
    )),
    budget: claim.budget,
    name: `claim-${claim.id}`,
    root,
  });
  return { study, claim, seeds: { ...claim.seeds, ...(verdict && { verdict }) } };
}

/** Rates of each arm in each world. */
type Grids = ReadonlyMap<string, readonly (number | undefined)[]>;

export const keyOf = (world: { readonly name: string }, arm: string): string => `${world.name}\0${arm}`;

function firstGrids({ study, claim }: ClaimStudy): Grids {
  return new Map(
    study.worlds.flatMap((world) =>
      world.cells.map(({ arm, run }) => {
        const { tune } = claim.arms[arm.name]!;
        const own = gridAround(run.config.optimizer.learningRate);
        return [keyOf(world, arm.name), tune === false ? [undefined] : tune === true ? own : tune] as const;
      }),
    ),
  );
}

const withRates =
  (grids: Grids): NonNullable<JobChoice['rates']> =>
  (world: StudyWorld, { arm }: Cell) =>
    grids.get(keyOf(world, arm.name))!;

export function tuningJobs(claimed: ClaimStudy, grids: Grids = firstGrids(claimed)): readonly Job[] {
  const tuned = new Map([...grids].map(([key, rates]) => [key, rates[0] === undefined ? [] : rates]));
  return jobsOf(claimed.study, { seeds: claimed.seeds.tuning, split: 'validation', rates: withRates(tuned) });
}

/** Verdict runs as far as they are known before tuning: each arm at its own rate. */
export function plannedVerdictJobs({ study, seeds }: ClaimStudy): readonly Job[] {
  return jobsOf(study, { seeds: seeds.verdict });
}

export interface Tuned {
  readonly jobs: readonly Job[];
  /** By world and arm, best first. */
  readonly rates: ReadonlyMap<string, readonly TunedRate[]>;
}

/** Whatever runs jobs; false where it was stopped or something failed, and then the same command goes on. */
export type RunJobs = (jobs: readonly Job[]) => Promise<boolean>;

/** Where the end of a grid wins, the grids of all arms of that world grow at that end. */
export async function tune(claimed: ClaimStudy, run: RunJobs): Promise<Tuned | undefined> {
  const { study } = claimed;
  let grids = firstGrids(claimed);
  for (let round = 0; ; round++) {
    const jobs = tuningJobs(claimed, grids);
    if (!(await run(jobs))) return undefined;
    const results = worldResults(study, jobs);
    const rates = new Map(
      study.worlds.flatMap((world, index) =>
        world.cells.map(
          ({ arm }) => [keyOf(world, arm.name), tunedRates(results[index]!, arm.name)] as const,
        ),
      ),
    );
    const grown = new Map(
      study.worlds.flatMap((world) => {
        const ends = new Set(
          world.cells.flatMap(({ arm }) => winningEnd(rates.get(keyOf(world, arm.name))!) ?? []),
        );
        return world.cells.map(({ arm }) => {
          const grid = grids.get(keyOf(world, arm.name))!;
          const numbers = grid.filter((rate) => rate !== undefined);
          const wider = [...ends].reduce<readonly number[]>((so, end) => extended(so, end), numbers);
          return [keyOf(world, arm.name), numbers.length < 2 ? grid : wider] as const;
        });
      }),
    );
    const same = [...grids].every(([key, rates]) => grown.get(key)!.length === rates.length);
    if (same || round === mostExtensions) return { jobs, rates };
    grids = grown;
  }
}

/** The claimant runs at its best rate; all others at every rate that may be theirs. */
export function verdictJobs(claimed: ClaimStudy, { rates }: Tuned): readonly Job[] {
  const { study, claim, seeds } = claimed;
  const claimant = claimantOf(claim);
  const chosen: Grids = new Map(
    [...rates].map(([key, tuned]): [string, readonly (number | undefined)[]] => {
      const [best] = tuned;
      if (best === undefined) return [key, [undefined]];
      return [key, key.endsWith(`\0${claimant}`) ? [best.rate] : nearBest(tuned)];
    }),
  );
  return jobsOf(study, { seeds: seeds.verdict, rates: withRates(chosen) });
}

/** The verdict runs of a result, for whoever has them on disk. */
export function jobsOfResult({ study }: ClaimStudy, { seeds, worlds }: ClaimResult): readonly Job[] {
  const rates: NonNullable<JobChoice['rates']> = ({ name }, { arm }) =>
    (worlds[name]?.runs ?? []).filter((one) => one.arm === arm.name).map(({ rate }) => rate);
  return jobsOf(study, { seeds: seeds.verdict, rates });
}
