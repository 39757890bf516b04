/** What every environment, game and world promises, as one check that tests can run over many seeds. */

import { canonicalJson, findNonJson, type Json } from '../core/json/json.ts';
import type { JsonCompatible } from '../core/json/json-compatible.ts';
import { samePlain } from '../core/json/same-plain.ts';
import { Rng } from '../core/rng.ts';
import type { Environment } from './environment.ts';
import { fromEnvironment } from './from-environment.ts';
import { partOf } from './mix/part.ts';
import { NO_ACTION } from './protocol.ts';
import {
  checkedMessages,
  checkedRole,
  checkedSession,
  checkedSnapshot,
  checkedStep,
  checkedText,
} from './replies.ts';
import type { Role, Session } from './session.ts';
import type { World } from './world.ts';

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
  const path = findNonJson(task);
  if (path !== undefined) return `the task is not plain JSON at ${path}`;
  const written = canonicalJson(task);
  try {
    const first = await transcript(world, task, seed);
    const second = await transcript(world, task, seed, first.actions);
    if (!samePlain(first, second)) return 'the same seed gave two transcripts';
    return canonicalJson(task) === written ? undefined : 'playing changed the task';
  } catch (error) {
    if (error instanceof Broken) return error.message;
    throw error;
  }
}

interface Transcript {
  readonly actions: string[];
  readonly results: unknown[];
}

/** Play with `actions`; or with random ones, which it gives back. */
async function transcript(
  world: World,
  task: Json,
  seed: string | number,
  actions?: readonly string[],
): Promise<Transcript> {
  const choices = Rng.of('laws', seed);
  const told: Transcript = { actions: [], results: [] };
  const used = new Map<Role, number>();
  const session = checkedSession('open()', await world.open(task, Rng.of('world', seed)));
  try {
    for (;;) {
      const before = look(world, session);
      const { mover } = before;
      const turns = used.get(mover ?? '') ?? 0;
      told.results.push(before);
      if (mover === undefined || turns >= partOf(world, session).maxTurns) return told;
      used.set(mover, turns + 1);
      const turn = told.actions.length;
      const given = actions?.[turn];
      const action = given ?? (await choose(world, session, choices));
      told.actions.push(action);
      const result = await stepWithCopies(world, session, action, choices);
      const after = look(world, session);
      const nonsense = NONSENSE.includes(action);
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
async function stepWithCopies(world: World, session: Session, action: string, choices: Rng) {
  const { signal } = new AbortController();
  const step = async (of: Session) => checkedStep(await of.step(action, signal), world.name, world.roles);
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
