/** Whoever `turnwise eval` measures: the policy of a run, or a model elsewhere, in the world that it plays. */

import { isAddress, isPath } from '../core/reference.ts';
import { optionsForReaders } from '../env/wording.ts';
import type { CollectOptions } from '../rollout/collect.ts';
import type { Search } from '../rollout/explore/searched.ts';
import type { RecordingOptions } from '../run/data/recording.ts';
import { createWorld, environmentNames, findEnvironment } from '../run/load/environments.ts';
import { openBlackBox, runsHere } from '../run/model/black-box.ts';
import { tokenizerOfCard } from '../run/model/tokenizer-hash.ts';
import { openCheckpoint } from '../run/open-checkpoint.ts';
import type { SpendMeter } from '../server/gateway/spend.ts';
import { runNames } from '../store/runs.ts';
import { evaluationOptions } from '../train/kit/learner.ts';
import { placeValues } from '../train/kit/place-values.ts';
import { latestRunOf } from './latest-run.ts';

/** Something that can be measured. */
export interface Player {
  readonly name: string;
  /** What is measured, with its temperature. */
  readonly ways: readonly (readonly [label: string, temperature: number])[];
  options(): CollectOptions;
  /** What the critic of its recipe expects after prompts, where it has one. */
  readonly valuesOf?: Search['valuesOf'];
  /** Whether its completions can be held to schemas. */
  readonly constrains?: boolean;
  /** What its recorded episodes say of it. */
  readonly recorded: Omit<RecordingOptions, 'file'>;
  close(): Promise<void>;
}

const SAMPLED_AND_GREEDY = [
  ['sampled', 1],
  ['greedy', 0],
] as const;

/** The policy of a run, at a checkpoint. */
export async function trainedPlayer(
  name: string,
  root: string,
  step: number | undefined,
  signal: AbortSignal,
  spend: SpendMeter,
): Promise<Player> {
  const run = isWorld(name, root) ? await latestRunHere(name, root) : name;
  const learner = await openCheckpoint({
    root,
    name: run,
    ...(step !== undefined && { step }),
    signal,
    spend,
  });
  const valuesOf = placeValues(learner);
  return {
    name: run,
    ...(valuesOf && { valuesOf }),
    ways: SAMPLED_AND_GREEDY,
    options: () => evaluationOptions(learner, signal),
    constrains: learner.engine.capabilities.schemas && learner.renderer.tokenTexts?.() !== undefined,
    recorded: {
      world: learner.world,
      by: `${run}@${learner.checkpointStep}`,
      run,
      tokenizer: tokenizerOfCard(learner.card),
    },
    close: () => learner.close(),
  };
}

/** A run may have the name of a built-in world. */
function isWorld(name: string, root: string): boolean {
  if (isPath(name) || isAddress(name)) return true;
  return environmentNames.includes(name) && !runNames(root).includes(name);
}

async function latestRunHere(place: string, root: string): Promise<string> {
  const factory = await findEnvironment(place);
  const world = createWorld(factory, []);
  const run = latestRunOf(factory, world, root);
  if (run === undefined) throw runsHere(world, place);
  return run;
}

/** A model elsewhere. */
export async function blackBoxPlayer(
  name: string,
  assignments: readonly string[],
  policy: string,
  limits: Parameters<typeof openBlackBox>[2],
): Promise<Player> {
  const factory = await findEnvironment(name);
  const world = createWorld(factory, assignments, optionsForReaders(factory.options));
  const { options, by, close } = await openBlackBox(world, policy, limits);
  return {
    name: world.name,
    // An agent asks for its own temperature.
    ways: world.agent ? [['as asked', 1]] : SAMPLED_AND_GREEDY,
    options: () => ({ ...options }),
    recorded: { world, by },
    close,
  };
}
