/** Judgements beside a run: appended to a file of their own, the last of an episode counts. No lock is taken. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { type Annotation, annotationsFile } from '../annotation.ts';
import { memberAt } from './episode.ts';
import type { Groups } from './groups.ts';
import type { WatchedRun } from './watched-run.ts';

const index = z.int().min(0);
const bodySchema = z.strictObject({
  place: z.string(),
  group: index,
  member: index,
  label: z.string().optional(),
  verdict: z.enum(['up', 'down']).optional(),
  correction: z.strictObject({ turn: index, action: z.string().min(1).max(16_384) }).optional(),
  note: z.string().max(16_384).optional(),
});

const nameOf = ({ place, group, member, label }: Annotation): string =>
  `${place}/${group}/${member}/${label}`;

/** The last of each episode; one that says nothing any more is gone. A line that is damaged or cut is left out. */
export function readAnnotations(run: WatchedRun): Annotation[] {
  const path = join(run.path, annotationsFile);
  if (!existsSync(path)) return [];
  const last = new Map<string, Annotation>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const annotation = parsed(line);
    if (annotation) last.set(nameOf(annotation), annotation);
  }
  return [...last.values()].filter(({ verdict, correction, note }) => verdict ?? correction ?? note);
}

function parsed(line: string): Annotation | undefined {
  try {
    const value = JSON.parse(line) as Annotation | null;
    return value?.version === 1 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Replace what was said about an episode. @throws TurnwiseError `config-invalid`, `episode-unknown` */
export async function annotate(run: WatchedRun, groups: Groups, body: unknown): Promise<Annotation> {
  const given = parseStrict(bodySchema, body, 'An annotation');
  const read = await groups.read(run, given.place, given.group, given.label);
  const { key } = memberAt(read, given.member);
  const { place, group, member, verdict, correction, note } = given;
  const annotation: Annotation = {
    version: 1,
    at: new Date().toISOString(),
    ...{ place, group, member, label: read.stored.label, episode: key },
    ...(verdict && { verdict }),
    ...(correction && { correction }),
    ...(note && { note }),
  };
  // After a line that a killed process left unfinished, this one is whole.
  appendFileSync(join(run.path, annotationsFile), `\n${JSON.stringify(annotation)}\n`);
  return annotation;
}
