/** What every environment, game and world promises, as one check that tests can run over many seeds. */

import { canonicalJson, findNonJson, type Json } from '../../core/json/json.ts';
import type { JsonCompatible } from '../../core/json/json-compatible.ts';
import { samePlain } from '../../core/json/same-plain.ts';
import { Rng } from '../../core/rng.ts';
import { thrownText, valueText } from '../../core/safe-text.ts';
import type { Environment } from '../environment.ts';
import { fromEnvironment } from '../from-environment.ts';
import { partOf } from '../mix/part.ts';
import { NO_ACTION } from '../protocol.ts';
import {
  checkedMessages,
  checkedRole,
  checkedSession,
  checkedSnapshot,
  checkedStep,
  checkedText,
} from '../replies.ts';
import type { Role, Session } from '../session.ts';
import type { World } from '../world.ts';
import { inOtherChance } from './other-clock.ts';

/** Things a policy may write that no environment should take for an action. */
const NONSENSE = [NO_ACTION, 'xyzzy', '<unk>', '  ', 'left right', '"', '{"name":1}', '-1', '1e3', '\u0000'];

/** A promise that was broken. */
class Broken extends Error {}

/**
 * Play `task` with a mixture of legal actions and nonsense, and return the first broken promise, or undefined:
 * nothing throws, every reply is one that a rollout accepts, nonsense is invalid and leaves the anchor alone, asking twice
 * gives the same, a session from a snapshot goes the same way when it is given the same action, what it does leaves the
 * original and the snapshot alone, free snapshots are JSON that reopens, and the same seed and actions give the same transcript.
 */
export function brokenLaw<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  environment: Environment<Task, State>,
  task: Task,
  seed: string | number,
): Promise<string | undefined> {
  return brokenWorldLaw(fromEnvironment(environment), task as Json, seed);
}

/** As `brokenLaw`, for any world with scripted random players. */
export async function brokenWorldLaw(
  world: World,
  task: Json,
  seed: string | number,
): Promise<string | undefined> {
  const breach = await worldLawBreach(world, task, seed);
  if (breach?.thrown !== undefined) throw breach.thrown;
  return breach?.broken;
}

/** A broken promise with the actions that led there, or what was thrown on the way. */
export interface Breach {
  readonly broken: string;
  readonly actions: readonly string[];
  readonly thrown?: unknown;
}

/**
 * As `brokenWorldLaw`, with the actions that show it. The second transcript of a pure world is played at another time of day
 * and with other numbers of `Math.random`.
 */
export async function worldLawBreach(
  world: World,
  task: Json,
  seed: string | number,
): Promise<Breach | undefined> {
  const path = findNonJson(task);
  if (path !== undefined) return { broken: `the task is not plain JSON at ${path}`, actions: [] };
  const written = canonicalJson(task);
  const first: Transcript = { actions: [], results: [] };
  try {
    await transcript(world, task, seed, first);
    const second: Transcript = { actions: [], results: [] };
    await transcript(world, task, seed, second, first.actions);
    const place = firstDifference(first.results, second.results);
    // Results are a look, then a step and a look for each action.
    if (place !== undefined)
      return {
        broken: `the same seed gave two transcripts, first different at ${place.path}: ${place.seen}`,
        actions: first.actions.slice(0, Math.floor((place.index + 1) / 2)),
      };
    return canonicalJson(task) === written ? undefined : { broken: 'playing changed the task', ...first };
  } catch (error) {
    if (error instanceof Broken) return { broken: error.message, actions: first.actions };
    return { broken: `it threw: ${thrownText(error)}`, actions: first.actions, thrown: error };
  }
}

function firstDifference(first: readonly unknown[], second: readonly unknown[]) {
  const index = first.findIndex((result, at) => !samePlain(result, second[at]));
  if (index < 0)
    return first.length === second.length
      ? undefined
      : { index: first.length, path: 'the end', seen: 'one is longer' };
  const { path, values } = different(first[index], second[index]);
  return { index, path: path || 'the result', seen: values.map((value) => valueText(value)).join(', then ') };
}

/** Where two plain values differ first, and how. */
function different(one: unknown, other: unknown, path = ''): { path: string; values: readonly unknown[] } {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return { path, values: [one, other] };
  const [left, right] = [one, other] as readonly Readonly<Record<string, unknown>>[];
  const key = [...Object.keys(left!), ...Object.keys(right!)].find(
    (name) => !samePlain(left![name], right![name]),
  );
  return key === undefined
    ? { path, values: [one, other] }
    : different(left![key], right![key], path === '' ? key : `${path}.${key}`);
}

interface Transcript {
  readonly actions: string[];
  readonly results: unknown[];
}

/** Play with `actions`, or with random ones, and write down in `told` what was done and what came of it. */
async function transcript(
  world: World,
  task: Json,
  seed: string | number,
  told: Transcript,
  actions?: readonly string[],
): Promise<void> {
  const choices = Rng.of('laws', seed);
  const used = new Map<Role, number>();
  const call = actions !== undefined && world.pure ? inOtherChance : <T>(make: () => T): T => make();
  const session = checkedSession('open()', await call(() => world.open(task, Rng.of('world', seed))));
  try {
    for (;;) {
      const before = look(world, session);
      const { mover } = before;
      const turns = used.get(mover ?? '') ?? 0;
      told.results.push(before);
      if (mover === undefined || turns >= partOf(world, session).maxTurns) return;
      used.set(mover, turns + 1);
      const turn = told.actions.length;
      // Where answers are numbers, -1 may be one.
      const legal = session.actions?.();
      const given = actions?.[turn];
      const action = given ?? (await choose(world, session, choices));
      told.actions.push(action);
      const result = await stepWithCopies(world, session, action, choices, call);
      const after = look(world, session);
      const nonsense = NONSENSE.includes(action) && !legal?.includes(action);
      if (!nonsense && !result.valid)
        throw new Broken(`the legal action ${JSON.stringify(action)} was invalid`);
      if (nonsense && result.valid) throw new Broken(`${JSON.stringify(action)} was taken for an action`);
      if (nonsense && !result.done && after.anchors[mover] !== before.anchors[mover]) {
        throw new Broken('an invalid action moved');
      }
      if (result.done !== (after.mover === undefined)) throw new Broken('done and toMove disagree');
      told.results.push(result);
    }
  } finally {
    await session.close();
  }
}

/** Nonsense, or what the policy's text for a random legal action is read as. */
async function choose(world: World, session: Session, choices: Rng): Promise<string> {
  if (choices.chance(0.2)) return choices.pick(NONSENSE);
  const action = await world.script?.(session, 'random', choices);
  if (action === undefined) throw new Broken('actions(state) is missing');
  const { protocol } = partOf(world, session);
  const parsed = protocol.parse(protocol.format(action));
  if (!parsed.ok) throw new Broken(`the protocol cannot read what it wrote for ${JSON.stringify(action)}`);
  return parsed.action;
}

/** Take a step; where there are snapshots, first in a session from one, and another step in another. */
async function stepWithCopies(
  world: World,
  session: Session,
  action: string,
  choices: Rng,
  call: <T>(make: () => T) => T,
) {
  const { signal } = new AbortController();
  const step = async (of: Session) =>
    checkedStep(await call(() => of.step(action, signal)), world.name, world.roles);
  if ((session.snapshot !== undefined) !== (world.snapshots !== undefined))
    throw new Broken('world.snapshots and session.snapshot disagree');
  if (session.snapshot === undefined) return await step(session);
  const snapshot = checkedSnapshot(await session.snapshot());
  const held = snapshot.toJson?.();
  if (held !== undefined && findNonJson(held) !== undefined) throw new Broken('a snapshot is not plain JSON');
  const written = held === undefined ? '' : canonicalJson(held);
  const other = await snapshot.open({ chance: choices.fork('chance') });
  const copies = [other];
  try {
    const before = look(world, session);
    if (!samePlain(look(world, other), before)) throw new Broken('a snapshot opened elsewhere');
    await other.step(await choose(world, other, choices.fork('other')), signal);
    const twin = await snapshot.open();
    copies.push(twin);
    const expected = await step(twin);
    if (!samePlain(look(world, session), before)) throw new Broken('a step of a copy changed the original');
    const result = await step(session);
    if (!samePlain(expected, result)) throw new Broken('a snapshot went another way');
    if (!samePlain(look(world, twin), look(world, session)))
      throw new Broken('a snapshot reached another state');
    if (held !== undefined && world.reopen) {
      const reopened = await world.reopen(JSON.parse(written) as Json);
      copies.push(reopened);
      if (!samePlain(look(world, reopened), before)) throw new Broken('a snapshot was reopened elsewhere');
      if (!samePlain(await step(reopened), expected))
        throw new Broken('a reopened snapshot went another way');
      if (!samePlain(look(world, reopened), look(world, twin)))
        throw new Broken('a reopened snapshot reached another state');
    }
    if (held !== undefined && canonicalJson(snapshot.toJson!()) !== written)
      throw new Broken('what came after a snapshot changed it');
    return result;
  } finally {
    await Promise.all(copies.map((copy) => copy.close()));
    await snapshot.dispose();
  }
}

/** All that can be asked without a step, asked twice. */
function look(world: World, session: Session) {
  const once = () => ({
    mover: checkedRole(session.toMove(), world.roles),
    anchors: Object.fromEntries(
      world.roles.map((role) => [role, checkedText('anchor()', session.anchor(role))]),
    ),
    messages: world.roles.map((role) => checkedMessages(session.observe(role))),
    picture: session.render?.(),
  });
  const first = once();
  if (!samePlain(once(), first)) throw new Broken('asked twice, it gave two answers');
  return first;
}
