/** Episodes that a run learns from without playing: scripted ones, or those that another run stored. */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { isTrainable } from '../core/stop.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { renderDemonstration } from '../synth/demonstrations.ts';
import type { Replayed } from '../train/learn.ts';
import type { Learner } from '../train/learner.ts';
import { version } from './version.ts';

const message = z.looseObject({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.string() });
const turn = z.looseObject({
  messages: z.array(message),
  text: z.string(),
  reward: z.number(),
  valid: z.boolean(),
  anchor: z.string(),
});
/** What of a stored episode is read; see docs/rollouts.md. */
const episode = z.looseObject({
  id: z.string(),
  groupId: z.string(),
  outcome: z.number(),
  stop: z.string(),
  turns: z.array(turn),
});

/**
 * What the setting `data` names, in the words of this run's model; nothing where it is empty. Recorded actions are learned
 * from whoever took them, so they all count as sampled, at a log-probability that nobody knows and nothing reads.
 *
 * @throws TurnwiseError `run-unknown`, `rollouts-missing`, `rollouts-invalid`
 */
export function recordedEpisodes(
  root: string,
  { config, renderer, context, world }: Learner,
  demonstrations: readonly Trajectory[],
): readonly Replayed[] {
  if (config.data === '') return [];
  const found =
    config.data === 'demonstrations' ? demonstrations : storedEpisodes(root, config.data, world.name);
  return found
    .filter(({ stop, turns }) => isTrainable(stop) && turns.length > 0)
    .map((trajectory) => {
      const { turns, ...rest } = renderDemonstration(trajectory, renderer, context);
      return {
        ...rest,
        turns: turns.map(({ info: _, ...kept }) => ({ ...kept, messages: [], sampled: true })),
      };
    });
}

/** All episodes that a run of this environment stored while it trained. */
function storedEpisodes(root: string, name: string, environment: string): Trajectory[] {
  const run = RunDirectory.openForReading({ root, name, version });
  const other = run.readConfig(z.looseObject({})).environment;
  const steps = run.rolloutSteps();
  if (other !== environment || steps.length === 0) {
    throw new TurnwiseError('rollouts-missing', {
      what: `Run "${name}" has no episodes that can be learned from here`,
      seen: other === environment ? 'no stored steps' : `episodes of ${other}`,
      allowed: `stored episodes of ${environment}`,
      next: 'Name a run of this environment that was trained with rolloutLog above 0',
      fields: { run: name },
    });
  }
  return steps.flatMap((step) => {
    const path = run.rolloutsPath(step)!;
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    return lines.map((line, index) => parseEpisode(line, `${path}:${index + 1}`));
  });
}

function parseEpisode(line: string, place: string): Trajectory {
  const invalid = (seen: string): TurnwiseError =>
    new TurnwiseError('rollouts-invalid', {
      what: `A stored episode cannot be read: ${place}`,
      seen,
      allowed: 'an episode as a run of this version stores it',
      next: 'Take another run, or record the episodes again',
      fields: { place },
    });
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw invalid((error as Error).message);
  }
  const parsed = episode.safeParse(value);
  if (!parsed.success)
    throw invalid(`${parsed.error.issues[0]!.path.join('.')}: ${parsed.error.issues[0]!.message}`);
  return parsed.data as unknown as Trajectory;
}
