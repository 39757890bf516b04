/**
 * The messages of Turnwise's own environment protocol (docs/environment-servers.md), as schemas that server and client share:
 * each side checks what the other sent.
 */

import { z } from 'zod';
import type { Message } from '../core/messages.ts';
import { toolDeclaration } from './declared-tools.ts';
import type { Session } from './session.ts';

export const WIRE_VERSION = 1;

// As the generator holds them, signed or not: streams of a stream are named by these very numbers.
const word = z.int().min(-0x80000000).max(0xffffffff);
const chanceState = z.tuple([word, word, word, word]);

/** The streams of chance of an episode; where `start` is missing, the start draws from `episode` too. */
export const wireStreams = z.strictObject({ episode: chanceState, start: chanceState.optional() });

export const createRequest = z.strictObject({
  split: z.enum(['train', 'validation', 'test']).default('train'),
  index: z.int().min(0),
  /** Names the episode's chance. Random where it and `chance` are missing. */
  seed: z.union([z.int(), z.string().max(255)]).optional(),
  chance: wireStreams.optional(),
  /** Leads on to where another session was: its actions, in stretches that may each draw from a stream of their own. */
  path: z.array(z.strictObject({ chance: chanceState.optional(), actions: z.array(z.string()) })).optional(),
  /** Asks for a shorter lease than the server's. */
  leaseMs: z.int().min(1).optional(),
});
export type CreateRequest = z.output<typeof createRequest>;

/** Goes on from a snapshot, with the chance of its origin or with this. */
export const reopenRequest = z.strictObject({ chance: chanceState.optional() });

/** Either an action, or text in which the server finds it. */
export const stepRequest = z
  .strictObject({
    /** The number of the step, from 0: repeating the last one gives its answer again and does nothing else. */
    step: z.int().min(0),
    action: z.string().optional(),
    text: z.string().optional(),
  })
  .refine(({ action, text }) => (action === undefined) !== (text === undefined), {
    error: 'needs either "action" or "text"',
  });

export const scriptRequest = z.strictObject({
  player: z.enum(['expert', 'beginner', 'random']),
  chance: chanceState,
});

const message = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  toolCalls: z
    .array(z.object({ id: z.string(), name: z.string(), arguments: z.record(z.string(), z.json()) }))
    .optional(),
  toolCallId: z.string().optional(),
});

/** What a session shows between two steps. */
export interface WireView {
  /** Whose turn it is; null when the episode is over. */
  readonly toMove: string | null;
  /** What the role to move has not been shown yet; at the end, what each role reads. */
  readonly messages: Readonly<Record<string, readonly Message[]>>;
  /** Key of the present state as the role to move can know it; empty at the end. */
  readonly anchor: string;
  readonly picture?: string;
}

const wireView = z.object({
  toMove: z.string().nullable(),
  messages: z.record(z.string(), z.array(message)),
  anchor: z.string(),
  picture: z.string().optional(),
}) as unknown as z.ZodType<WireView>;

const actionForm = z.object({
  form: z.enum(['raw', 'tags', 'tools', 'calls']),
  /** Whether words without a call are an answer. */
  answers: z.boolean().default(false),
  tools: z.array(z.object({ type: z.literal('function'), function: toolDeclaration })).optional(),
});

export const sessionAnswer = z.object({
  session: z.string().min(1),
  leaseMs: z.number(),
  /** The number that the next step must have. */
  step: z.int().min(0),
  view: wireView,
  /** In a world of worlds: the one that the episode is played in. */
  part: z.object({ name: z.string(), maxTurns: z.int().min(1), action: actionForm }).optional(),
});

const snapshotCost = z.enum(['free', 'process', 'container']);

export const snapshotAnswer = z.object({
  snapshot: z.string().min(1),
  cost: snapshotCost,
  leaseMs: z.number(),
});

export const stepAnswer = z.object({
  step: z.int().min(0),
  rewards: z.record(z.string(), z.number()),
  done: z.boolean(),
  success: z.record(z.string(), z.boolean()),
  valid: z.boolean(),
  metrics: z.record(z.string(), z.number()).optional(),
  info: z.json().optional(),
  view: wireView,
});
export type StepAnswer = z.output<typeof stepAnswer>;

export const scriptAnswer = z.object({ action: z.string().nullable() });

export const environmentAnswer = z.object({
  protocol: z.literal(WIRE_VERSION),
  name: z.string(),
  description: z.string(),
  roles: z.array(z.string()).min(1),
  maxTurns: z.int().min(1),
  action: actionForm,
  /** Numbers of tasks; null is endlessly many. */
  tasks: z.object({
    train: z.int().nullable(),
    validation: z.int().nullable(),
    test: z.int().nullable(),
  }),
  /** Fields of the rollout file that `info.credit` of its steps gives. */
  facts: z.array(z.string()).default([]),
  /** Whether the same task, chance and actions always give the same episode. */
  pure: z.boolean().default(false),
  /** What snapshots of its sessions cost; null where there are none. */
  snapshots: snapshotCost.nullable().default(null),
  /** Whether its rewards compare the episodes of a group, which a server does not see. */
  scoresGroups: z.boolean().default(false),
  /** Whether scripted players can be asked. */
  scripts: z.boolean(),
  /** Training settings that were found to work here. */
  settings: z.record(z.string(), z.json()),
  maxSessions: z.int().min(1),
});

export const errorAnswer = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** What `session` shows now. Asks it once for each view, as the rollout does. */
export function viewOf(session: Session): WireView {
  const role = session.toMove();
  const picture = session.render?.();
  const readers = role === undefined ? session.roles : [role];
  return {
    toMove: role ?? null,
    messages: Object.fromEntries(readers.map((reader) => [reader, session.observe(reader)])),
    anchor: role === undefined ? '' : session.anchor(role),
    ...(picture === undefined ? {} : { picture }),
  };
}
