/**
 * The tool protocol: exactly one `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, with checked arguments. Where answers are
 * allowed, words without a call are one.
 */

import type { z } from 'zod';
import type { Constraint } from '../core/constraint.ts';
import { nearest } from '../core/errors.ts';
import { canonicalJson, type JsonObject } from '../core/json/json.ts';
import { type ActionProtocol, declaredTools, type ParsedAction } from './protocol.ts';
import { describeTools, type Tool } from './tool.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const REMEDY = `Write exactly one ${OPEN}{"name": …, "arguments": {…}}${CLOSE}.`;

/** What the protocol needs to know of a tool. */
export type DescribedTool = Pick<Tool, 'name' | 'description' | 'parameters'>;

/** The action of a tool call: canonical JSON of its name and arguments. */
export function toolAction(name: string, input: JsonObject): string {
  return canonicalJson({ name, arguments: input });
}

/**
 * Run the call that the tool protocol read.
 * Returns undefined when `action` is not a call of one of `tools` (so for `NO_ACTION`): an invalid action.
 */
export async function callTool<Context>(
  tools: readonly Tool<Context>[],
  action: string,
  context: Context,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const call = readCall(tools, action);
  return typeof call === 'string' ? undefined : call.tool.run(call.input, context, signal);
}

/** The action of an answer in words, where they are allowed: canonical JSON, which no tool call is equal to. */
export function answerAction(answer: string): string {
  return canonicalJson({ answer });
}

/** The answer in an action; undefined where it is something else. */
export function answerIn(action: string): string | undefined {
  if (!action.startsWith('{"answer":')) return undefined;
  try {
    const { answer } = JSON.parse(action) as { readonly answer?: unknown };
    return typeof answer === 'string' ? answer : undefined;
  } catch {
    return undefined;
  }
}

export interface ToolProtocolOptions {
  /** Whether words without a call are an answer rather than a mistake. */
  readonly answers?: boolean;
}

/**
 * The protocol for `tools`. Its actions are `toolAction(...)`, and `answerAction(...)` where answers are allowed; problems name the
 * tool, the path and what is allowed.
 */
export function toolProtocol(
  tools: readonly DescribedTool[],
  { answers = false }: ToolProtocolOptions = {},
): ActionProtocol {
  const declarations = describeTools(tools);
  return {
    name: 'tools',
    tools: declarations,
    ...(answers && { answers }),
    instructions: [
      'You can call these tools:',
      ...declarations.map((tool) => JSON.stringify(tool)),
      `You may reason first. Then call one: ${OPEN}{"name": …, "arguments": {…}}${CLOSE}.`,
      ...(answers ? ['When you know the answer, write it without a call.'] : []),
    ].join('\n'),
    format: (action) => answerIn(action) ?? `${OPEN}${action}${CLOSE}`,
    parse: (text) => parse(tools, text, answers),
  };
}

/**
 * One call of one of the protocol's tools, as demonstrations write it: keys in order, no white space. Where words are an answer, the
 * completion is words, or words and a call. Undefined for protocols without tools.
 */
export function callConstraint(protocol: ActionProtocol): Constraint | undefined {
  const { name, answers } = protocol;
  const tools = declaredTools(protocol) ?? [];
  if (name !== 'tools' || tools.length === 0) return undefined;
  const forms = tools.map(({ name: called, parameters }) => ({
    begin: `${OPEN}{"arguments":`,
    schema: JSON.parse(canonicalJson(parameters)) as JsonObject,
    end: `,"name":${JSON.stringify(called)}}${CLOSE}`,
    notation: 'compact' as const,
  }));
  return answers ? { forms, trigger: OPEN, once: true } : { forms };
}

/** Whether a text has a call in the form of this protocol. */
export const hasToolCall = (text: string): boolean => text.includes(OPEN);

function parse(tools: readonly DescribedTool[], text: string, answers: boolean): ParsedAction {
  const problem = (what: string): ParsedAction => ({ ok: false, problem: what });
  const opened = text.split(OPEN).length - 1;
  const closed = text.split(CLOSE).length - 1;
  if (opened === 0 && closed === 0 && answers && text.trim() !== '')
    return { ok: true, action: answerAction(text.trim()) };
  if (opened === 0) return problem(`No tool was called. ${REMEDY} ${available(tools)}`);
  if (opened > 1 || closed > 1) return problem(`Seen more than one tool call. ${REMEDY}`);
  const start = text.indexOf(OPEN) + OPEN.length;
  const end = text.indexOf(CLOSE, start);
  if (end < 0) return problem(`${OPEN} was not closed with ${CLOSE}. ${REMEDY}`);
  const call = readCall(tools, text.slice(start, end));
  if (typeof call === 'string') return problem(call);
  return { ok: true, action: toolAction(call.tool.name, call.input) };
}

/** The call written in `body`, or the problem with it. */
export function readCall<Known extends DescribedTool>(
  tools: readonly Known[],
  body: string,
): { readonly tool: Known; readonly input: JsonObject } | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return `The tool call is not valid JSON. ${REMEDY}`;
  }
  const { name, arguments: input = {}, ...others } = isObject(value) ? value : {};
  const unknownKey = Object.keys(others)[0];
  if (unknownKey !== undefined) return `The tool call has an unknown key "${unknownKey}". ${REMEDY}`;
  if (typeof name !== 'string') return `The tool call has no name. ${REMEDY} ${available(tools)}`;
  const tool = tools.find((known) => known.name === name);
  if (tool === undefined) {
    const guess = nearest(
      name,
      tools.map((known) => known.name),
    );
    return `There is no tool "${name}".${guess === undefined ? '' : ` Did you mean "${guess}"?`} ${available(tools)}`;
  }
  if (!isObject(input)) return `Tool "${name}": "arguments" must be an object. ${expected(tool)}`;
  const checked = tool.parameters.safeParse(input);
  if (checked.success) return { tool, input };
  return `Tool "${name}": ${checked.error.issues.map(describeIssue).join(' ')} ${expected(tool)}`;
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.');
  return path === '' ? `${issue.message}.` : `argument "${path}": ${issue.message}.`;
}

function expected(tool: DescribedTool): string {
  const names = Object.keys(tool.parameters.shape);
  return names.length === 0 ? 'It takes no arguments.' : `Its arguments: ${names.join(', ')}.`;
}

function available(tools: readonly DescribedTool[]): string {
  return `Available tools: ${tools.map((tool) => tool.name).join(', ')}.`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
