/**
 * What the calls of worlds and sessions may return. Each reply is copied while it is checked, so nothing later touches
 * the author's own objects. Raises `environment-reply`, and what reading facts and rewards raises.
 */

import { TurnwiseError } from '../core/errors.ts';
import type { Facts } from '../core/facts.ts';
import type { Json } from '../core/json/json.ts';
import { COPY_LIMITS, type CopyLimits, plainCopy } from '../core/json/plain-copy.ts';
import type { Message } from '../core/messages.ts';
import { isThenable, valueText } from '../core/safe-text.ts';
import { checkReward, OBSERVATION_LIMIT } from './checks.ts';
import { parseFacts } from './facts.ts';
import type { ParsedAction } from './protocol.ts';
import { checkedMetrics } from './scores/metrics.ts';
import type { Role, Session, Snapshot, SnapshotCost, StepResult } from './session.ts';

/** What a step may be relied on for: facts apart from the rest of the info, everything plain and copied. */
export interface CheckedStep extends StepResult {
  /** What stood in `info.credit`. */
  readonly facts?: Facts;
  /** What else stood in `info`. */
  readonly info?: Json;
}

export function refused(call: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('environment-reply', {
    what: `${call} returned an invalid value`,
    seen,
    allowed,
    // Also where a policy that follows scripts meets it.
    fields: { call, origin: 'environment' },
  });
}

/** Whose move it is. */
export function checkedRole(value: unknown, roles: readonly Role[]): Role | undefined {
  if (value === undefined || roles.includes(value as Role)) return value as Role | undefined;
  throw refused('toMove()', seenOf(value), `${quoted(roles)}, or undefined once the episode is over`);
}

export function checkedText(call: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw refused(call, seenOf(value), 'a string');
}

const MESSAGE_ROLES: readonly unknown[] = ['system', 'user', 'assistant', 'tool'] satisfies Message['role'][];

const MESSAGE_LIMITS: CopyLimits = { ...COPY_LIMITS, characters: OBSERVATION_LIMIT + 10_000 };

export function checkedMessages(value: unknown): readonly Message[] {
  const call = 'observe()';
  if (!isList(value)) throw refused(call, seenOf(value), 'an array of messages');
  const messages = plain(call, value, 'messages', MESSAGE_LIMITS) as readonly Json[];
  let length = 0;
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (!isObject(message))
      throw refused(call, `${valueText(message)} at ${at}`, 'a message: { role, content }');
    if (!MESSAGE_ROLES.includes(message.role)) {
      throw refused(
        call,
        `${seenOf(message.role)} at ${at}.role`,
        quoted(MESSAGE_ROLES as readonly string[]),
      );
    }
    if (typeof message.content !== 'string') {
      throw refused(call, `${seenOf(message.content)} at ${at}.content`, 'a string, which may be empty');
    }
    length += message.content.length;
  }
  if (length > OBSERVATION_LIMIT) {
    throw refused(call, `${length} characters`, `at most ${OBSERVATION_LIMIT} characters`);
  }
  return messages as unknown as readonly Message[];
}

/** Checks that all methods are there; does not copy, since a session lives. */
export function checkedSession(call: string, value: unknown): Session {
  const methods = ['toMove', 'observe', 'anchor', 'step', 'close'];
  return withMethods(call, value, 'session', methods) as Session;
}

const COSTS: readonly unknown[] = ['free', 'process', 'container'] satisfies SnapshotCost[];

/** As `checkedSession`. */
export function checkedSnapshot(value: unknown): Snapshot {
  const call = 'snapshot()';
  const snapshot = withMethods(call, value, 'snapshot', ['open', 'dispose']) as Snapshot;
  const { cost } = snapshot;
  if (COSTS.includes(cost)) return snapshot;
  throw refused(call, `${seenOf(cost)} as cost`, quoted(COSTS as readonly string[]));
}

function withMethods(call: string, value: unknown, noun: string, methods: readonly string[]): unknown {
  const allowed = `a ${noun} with ${methods.slice(0, -1).join(', ')} and ${methods.at(-1)}`;
  if (typeof value !== 'object' || value === null) throw refused(call, seenOf(value), allowed);
  const object = value as Readonly<Record<string, unknown>>;
  for (const method of methods) {
    if (typeof object[method] === 'function') continue;
    throw refused(call, `a ${noun} whose ${method} is ${seenOf(object[method])}`, allowed);
  }
  return value;
}

export function checkedActions(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const call = 'actions()';
  if (Array.isArray(value)) return value.map((action: unknown) => checkedText(call, action));
  throw refused(call, seenOf(value), 'an array of strings, or undefined');
}

export function checkedParse(value: unknown): ParsedAction {
  const call = 'protocol.parse()';
  if (!isObject(value)) throw refused(call, seenOf(value), '{ ok: true, action } or { ok: false, problem }');
  const { ok, action, problem } = value;
  if (ok === true && typeof action === 'string') return { ok, action };
  if (ok === false && typeof problem === 'string') return { ok, problem };
  const seen = `ok ${seenOf(ok)} with the action ${seenOf(action)} and the problem ${seenOf(problem)}`;
  throw refused(call, seen, '{ ok: true, action } or { ok: false, problem }, both strings');
}

/** @param world its name, for messages about rewards */
export function checkedStep(value: unknown, world: string, roles: readonly Role[]): CheckedStep {
  const call = 'step()';
  const allowed = '{ rewards, done, success, valid } and, optionally, metrics and info';
  if (!isObject(value)) throw refused(call, seenOf(value), allowed);
  // Each field is read once: a getter may say something else the next time.
  const { rewards, done, success, valid, metrics, info } = value;
  const isFlag = (name: string, flag: unknown): boolean => {
    if (typeof flag === 'boolean') return flag;
    throw refused(call, `${seenOf(flag)} as ${name}`, 'true or false');
  };
  const flags = { done: isFlag('done', done), valid: isFlag('valid', valid) };
  return {
    rewards: byRole('rewards', rewards, roles, 'a number for each role', (reward, role) =>
      checkReward(world, reward, role),
    ),
    success: byRole('success', success, roles, 'true or false for each role', (solved, role) => {
      if (typeof solved === 'boolean') return solved;
      throw refused(call, `${seenOf(solved)} as success.${role}`, 'true or false');
    }),
    ...flags,
    ...(metrics !== undefined && { metrics: checkedMetrics(call, metrics) }),
    ...splitInfo(info === undefined ? undefined : plain(call, info, 'info')),
  };
}

function splitInfo(info: Json | undefined): Pick<CheckedStep, 'facts' | 'info'> {
  if (info === undefined) return {};
  if (!isObject(info) || !Object.hasOwn(info, 'credit')) return { info };
  const { credit, ...rest } = info;
  const facts = parseFacts(credit as Json, 'The result of step()');
  return Object.keys(rest).length > 0 ? { facts, info: rest as Json } : { facts };
}

function byRole<T>(
  name: string,
  value: unknown,
  roles: readonly Role[],
  allowed: string,
  check: (value: unknown, role: Role) => T,
): Readonly<Record<Role, T>> {
  if (!isObject(value)) throw refused('step()', `${seenOf(value)} as ${name}`, `an object with ${allowed}`);
  let said: Readonly<Record<Role, T>> = {};
  for (const role of Object.keys(value)) {
    if (!roles.includes(role)) throw refused('step()', `${seenOf(role)} in ${name}`, quoted(roles));
    const item = value[role];
    // A computed name is a name of its own, whatever it is.
    if (item !== undefined) said = { ...said, [role]: check(item, role) };
  }
  return said;
}

function plain(call: string, value: unknown, path: string, limits = COPY_LIMITS): Json {
  const copied = plainCopy(value, path, limits);
  if (copied.ok) return copied.value;
  throw refused(call, `${copied.seen} at ${copied.path}`, copied.allowed);
}

/** What is seen; a promise that nobody will await is made harmless. */
function seenOf(value: unknown): string {
  if (isThenable(value)) Promise.resolve(value).catch(() => {});
  return valueText(value);
}

function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ');
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isThenable(value);
