/** Addresses of pages, and of what they ask the server for. */

import { runPath } from '../data/client.ts';
import { address } from './router.ts';

export interface GroupAt {
  readonly run: string;
  /** How the file of the step is called: `12`, `evaluation-12`. */
  readonly place: string;
  readonly group: number;
  /** `sampled` or `greedy`, in evaluations. */
  readonly label?: string | undefined;
}

const evaluation = 'evaluation-';

function stepParts(place: string): [string, string] {
  return place.startsWith(evaluation) ? ['evaluations', place.slice(evaluation.length)] : ['steps', place];
}

export function placeName(place: string): string {
  const [kind, step] = stepParts(place);
  return kind === 'steps' ? `step ${step}` : `evaluation ${step}`;
}

/** The page that lists the groups of a step, or the tasks of an evaluation. */
export function placeAddress(run: string, place: string): string {
  const [kind, step] = stepParts(place);
  return kind === 'steps' ? `${address('runs', run)}?step=${step}` : address('runs', run, kind, step);
}

const labelled = (path: string, label: string | undefined): string =>
  label === undefined || label === 'training' ? path : `${path}?label=${label}`;

export function groupAddress({ run, place, group, label }: GroupAt): string {
  return labelled(address('runs', run, ...stepParts(place), 'groups', group), label);
}

export function episodeAddress({ run, place, group, label }: GroupAt, member: number): string {
  return labelled(address('runs', run, ...stepParts(place), 'groups', group, member), label);
}

/** Where an episode is gone on with after so many of its turns. */
export function forkAddress({ run, place, group, label }: GroupAt, member: number, turns: number): string {
  const from = new URLSearchParams({
    from: place,
    group: `${group}`,
    member: `${member}`,
    turns: `${turns}`,
  });
  if (label !== undefined && label !== 'training') from.set('label', label);
  return `${address('runs', run, 'play')}?${from}`;
}

export function groupQuery({ run, place, group, label }: GroupAt, rest = ''): string {
  return labelled(runPath(run, `/places/${place}/groups/${group}${rest}`), label);
}

/** What was said of the episodes of a run. */
export const annotationsAddress = (run: string): string => `/annotations?run=${encodeURIComponent(run)}`;

/** These runs beside each other. */
export const compareAddress = (runs: readonly string[]): string =>
  `/compare?runs=${runs.map(encodeURIComponent).join(',')}`;

export function episodeQuery(at: GroupAt, member: number): string {
  return groupQuery(at, `/members/${member}`);
}

export function textQuery(at: GroupAt, member: number, where: string): string {
  const query = groupQuery(at, `/members/${member}/text`);
  return `${query}${query.includes('?') ? '&' : '?'}at=${encodeURIComponent(where)}`;
}
