/** `turnwise compare --claim`: claims are planned, run in order, and judged. */

import { join, relative } from 'node:path';
import { claimArms, readClaims, type StoredClaim } from '../../compare/claims/claim.ts';
import { resultFor, tasksHash } from '../../compare/claims/claim-figures.ts';
import { requireCommitted } from '../../compare/claims/claim-git.ts';
import { requireRoom, resultPath, resultsOf, writeResult } from '../../compare/claims/claim-result.ts';
import {
  type ClaimStudy,
  jobsOfResult,
  plannedVerdictJobs,
  prepareClaim,
  tune,
  tuningJobs,
  verdictJobs,
} from '../../compare/claims/claim-run.ts';
import { leastBytes } from '../../compare/claims/claim-size.ts';
import { type JudgedClaim, judgeClaims } from '../../compare/claims/claim-verdict.ts';
import { curvesCsv, runsCsv } from '../../compare/csv.ts';
import { planOf } from '../../compare/forecast.ts';
import type { Job } from '../../compare/jobs.ts';
import type { JobStatus } from '../../compare/sweep.ts';
import { type WorldResult, worldResults } from '../../compare/world-results.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { version } from '../../run/version.ts';
import type { Console } from '../../show/console.ts';
import { realDisk } from '../../store/disk.ts';
import { claimsPage, type ShownClaim } from './claim-page.ts';
import { claimsText } from './claim-text.ts';
import { planText } from './plan-text.ts';
import type { ShownSweep } from './shown-sweep.ts';

export interface ClaimsRequest {
  /** File or folder. */
  readonly path: string;
  readonly root: string;
  /** Other verdict seeds than the claims': a replication. */
  readonly seeds: readonly number[] | undefined;
  readonly parallel: number;
  readonly json: boolean;
  readonly console: Console;
}

/** What all claims without a result would run; a claim whose environment does not exist yet is named. */
export async function planClaims({
  path,
  root,
  seeds,
  parallel,
  json,
  console,
}: ClaimsRequest): Promise<void> {
  for (const stored of readClaims(path)) {
    const claimed = await prepared(stored, root, seeds);
    if (claimed === undefined) {
      console.write(`${stored.claim.id}: pending, its environment does not exist yet\n`);
      continue;
    }
    const jobs = [...tuningJobs(claimed), ...plannedVerdictJobs(claimed)];
    const plan = planOf(claimed.study, jobs, parallel);
    const tasks = Object.fromEntries(
      claimed.study.worlds.map(({ name, cells }) => [name, tasksHash(cells[0]!.run.world)]),
    );
    if (json) console.write(`${JSON.stringify({ type: 'plan', claim: stored.claim.id, tasks, ...plan })}\n`);
    else {
      const hashes = Object.entries(tasks).map(([name, hash]) => `${name} ${hash}`);
      console.write(
        `${stored.claim.id}\n${planText(plan, console)}Tasks: ${hashes.join(', ')}. Rivals also run at every rate near their best, which tuning determines.\n\n`,
      );
    }
  }
}

/** Run every claim that has no result of these seeds and this version, in order. */
export async function runClaims(request: ClaimsRequest, sweep: ShownSweep): Promise<void> {
  const { path, root, seeds } = request;
  for (const stored of readClaims(path)) {
    const claimed = await prepared(stored, root, seeds);
    if (claimed === undefined || stored.claim.withdrawn !== undefined) continue;
    const at = requireCommitted(stored.path);
    const target = resultPath(stored, { claimBlob: at.claimBlob, verdict: claimed.seeds.verdict, version });
    if (resultsOf(stored).some((result) => result.path === target)) continue;
    const run = async (jobs: Parameters<ShownSweep['run']>[0]): Promise<boolean> => {
      const statuses = await sweep.run(jobs);
      const failed = statuses.filter(({ state }) => state === 'failed');
      if (failed.length > 0 && !sweep.stopped()) throw incomplete(stored, failed);
      return !sweep.stopped();
    };
    const leaveRoom = (verdict: readonly Job[]): void =>
      requireRoom(stored.claim.id, leastBytes(claimed, verdict, at));
    leaveRoom(plannedVerdictJobs(claimed));
    const tuned = await tune(claimed, run);
    if (tuned === undefined) return;
    const jobs = verdictJobs(claimed, tuned);
    leaveRoom(jobs);
    if (!(await run(jobs))) return;
    writeResult(target, resultFor(claimed, tuned, jobs, at));
  }
}

/** The page, the CSV beside it, and the verdicts in the terminal. */
export async function reportClaims({ path, root, json, console }: ClaimsRequest): Promise<void> {
  const judged = judgeClaims(path);
  const shown = await Promise.all(
    judged.map(async (one): Promise<ShownClaim> => ({ judged: one, worlds: await runsOf(one, root) })),
  );
  const folder = join(root, judged.length === 1 ? `claim-${judged[0]!.claim.id}` : 'claims');
  realDisk.makeFolder(folder);
  const page = join(folder, 'report.html');
  realDisk.replaceFile(page, claimsPage(shown));
  const worlds = shown.flatMap((one) => one.worlds);
  if (worlds.length > 0) {
    realDisk.replaceFile(join(folder, 'runs.csv'), runsCsv(worlds));
    realDisk.replaceFile(join(folder, 'curves.csv'), curvesCsv(worlds));
  }
  const place = relative('', page);
  if (!json) console.write(claimsText(judged, place, console));
  else {
    for (const { claim, judgement, p, adjusted, family, stored } of judged) {
      const result = stored && { result: relative('', stored.path) };
      console.write(
        `${JSON.stringify({ type: 'verdict', claim: claim.id, ...judgement, p, adjusted, family, ...result, page: place })}\n`,
      );
    }
  }
}

/** Undefined where its environment does not exist yet. */
async function prepared(
  stored: StoredClaim,
  root: string,
  seeds: readonly number[] | undefined,
): Promise<ClaimStudy | undefined> {
  await claimArms(stored.claim);
  try {
    return await prepareClaim(stored, root, seeds);
  } catch (error) {
    if (TurnwiseError.isInstance(error) && error.code === 'environment-unknown') return undefined;
    throw error;
  }
}

async function runsOf(judged: JudgedClaim, root: string): Promise<readonly WorldResult[]> {
  const result = judged.stored?.result;
  const claimed = result && (await prepared(judged, root, result.seeds.verdict));
  return claimed ? worldResults(claimed.study, jobsOfResult(claimed, result)) : [];
}

function incomplete({ claim, path }: StoredClaim, failed: readonly JobStatus[]): TurnwiseError {
  return new TurnwiseError('comparison-incomplete', {
    what: `${failed.length} of the runs of the claim "${claim.id}" failed: ${failed.map(({ job }) => job.name).join(', ')}`,
    seen: failed[0]!.problem?.message ?? 'no reason',
    next: `To try them again, the same seeds: turnwise compare --claim ${path}`,
    fields: { failed: failed.length },
  });
}
