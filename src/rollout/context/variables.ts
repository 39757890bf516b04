/** Results as variables: long ones stay out of the prompt, which says their names; acts pass them on by name. */

import { z } from 'zod';
import type { Json } from '../../core/json/json.ts';
import type { Message, ToolDeclaration } from '../../core/messages.ts';
import { answerOwn, hasOwnCall, type OwnCall } from './own-calls.ts';
import { type ContextStrategy, defineContext, type PlannedAct, type View } from './strategy.ts';
import { foldedBy, type IsResult, resultCounts, resultsWith, withResults } from './tool-results.ts';

export interface VariablesOptions {
  readonly limit: number;
  readonly keep: number;
  readonly every: number;
  readonly placeholder: string;
}

export type VariablesState = { readonly folded: number };

type Names = View<VariablesOptions, VariablesState>;

const SHOW = 'show';
const FIND = 'find';

const own: readonly ToolDeclaration[] = [
  {
    name: SHOW,
    description: 'Read a variable, some of it at a time.',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string' }, from: { type: 'integer', description: 'First character' } },
      required: ['name'],
      additionalProperties: false,
    },
  },
  {
    name: FIND,
    description: 'Read the lines of a variable that contain a text.',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string' }, text: { type: 'string' } },
      required: ['name', 'text'],
      additionalProperties: false,
    },
  },
];

const isOwn = (name: string): boolean => own.some((tool) => tool.name === name);

/** Whether the messages before a call, or the latest ones, are answers of this context. */
const isAnswer = ({ calls }: Names, turn: number): boolean => turn > 0 && hasOwnCall(calls[turn - 1]!, isOwn);

/** Every call declares the context's own tools, so the session's say whether an environment answers as a tool. */
const isResultIn = ({ tools = [] }: Names): IsResult => resultsWith(tools.length > 0);

/** Results that are variables: all but the answers of this context. */
function variablesOf(view: Names): readonly Message[] {
  const isResult = isResultIn(view);
  return [...view.calls.map(({ messages }) => messages), view.fresh].flatMap((messages, turn) =>
    isAnswer(view, turn) ? [] : messages.filter((message) => isResult(message, turn === 0)),
  );
}

const nameOf = (index: number): string => `r${index + 1}`;

/** The text of a variable by its name; undefined where there is none. */
function textOf(view: Names, name: string): string | undefined {
  const index = /^r([1-9]\d*)$/.exec(name)?.[1];
  return index === undefined ? undefined : variablesOf(view)[Number(index) - 1]?.content;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** What stands in the prompt for a long result: its name, what it is, and how it begins. */
function described(result: Message, name: string, limit: number): string {
  const { content } = result;
  const value = parsed(content);
  const kind = Array.isArray(value)
    ? `list of ${value.length}`
    : typeof value === 'object' && value !== null
      ? `object with ${Object.keys(value).join(' ').slice(0, limit)}`
      : `text of ${content.split('\n').length} lines`;
  const begins = Array.from(content)
    .slice(0, Math.ceil(limit / 4))
    .join('')
    .trim();
  return `${name} is a ${kind} , ${content.length} characters , begins ${begins} …`;
}

/** `$r2` is the whole of a result, and `$r2.items.0` a part of one that is JSON. */
const REFERENCE = /\$(r[1-9]\d*)((?:\.[\w-]+)*)/g;

function withValues(text: string, view: Names): string {
  return text.replace(REFERENCE, (written, name: string, path: string) => {
    const whole = textOf(view, name);
    if (whole === undefined || path === '') return whole ?? written;
    const part = path
      .slice(1)
      .split('.')
      .reduce<Json | undefined>(
        (value, key) =>
          typeof value === 'object' && value !== null && Object.hasOwn(value, key)
            ? (value as Readonly<Record<string, Json>>)[key]
            : undefined,
        parsed(whole),
      );
    if (part === undefined) return written;
    return typeof part === 'string' ? part : JSON.stringify(part);
  });
}

/** What is read of a variable: a cut text says how to go on. */
function read(use: OwnCall, view: Names): string {
  const { limit } = view.options;
  const name = String(use.arguments.name ?? '').replace(/^\$/, '');
  const value = textOf(view, name);
  if (value === undefined) return `There is no variable ${name}`;
  if (use.name === FIND) {
    const lines = value.split('\n').filter((line) => line.includes(String(use.arguments.text ?? '')));
    const text = lines.join('\n');
    if (text === '') return 'Found nothing';
    return text.length <= limit ? text : `${lines.length} lines are too long to read: find less`;
  }
  const from = Math.max(0, Math.floor(Number(use.arguments.from ?? 0)) || 0);
  if (value.length - from <= limit) return value.slice(from);
  // What is read is no variable itself.
  const more = (end: number): string => ` … more from ${end}`;
  const end = from + Math.max(1, limit - more(value.length).length);
  return value.slice(from, end) + more(end);
}

/** A scripted player passes on what it has by name, and looks at what is new before it goes on. */
function scripted(view: Names, planned: PlannedAct | undefined): string {
  if (planned === undefined) return '';
  const results = variablesOf(view);
  const { limit } = view.options;
  const nameFor = (text: string): string | undefined => {
    const index = results.findIndex(({ content }) => content === text && content.length > limit);
    return index < 0 ? undefined : `$${nameOf(index)}`;
  };
  const [use, ...others] = planned.reply.toolCalls;
  // One call is all that can be written anew.
  if (others.length > 0) return planned.text;
  if (use === undefined) {
    const whole = nameFor(planned.text);
    if (whole !== undefined) return whole;
  } else {
    const given = Object.entries(use.arguments).map(([key, value]) => [
      key,
      typeof value === 'string' ? (nameFor(value) ?? value) : value,
    ]);
    if (given.some(([key, value]) => use.arguments[key as string] !== value))
      return planned.call(use.name, Object.fromEntries(given));
  }
  const last = results.length - 1;
  const isNew = view.fresh.includes(results[last]!) && results[last]!.content.length > limit;
  return isNew ? planned.call(SHOW, { name: nameOf(last) }) : planned.text;
}

/**
 * The prompt says of each long result its name, its kind and its size. The policy reads from it with the tools `show` and
 * `find`, and passes it on by name: `$r2` in an act, or in an argument of a call, stands for the whole of the second result, and
 * `$r2.items.0` for a part of one that is JSON. What `show` and `find` answer is none. Of what was read the latest stay.
 *
 * Source: CaveAgent (arXiv 2601.01569). Deviations:
 * 1. Variables are what tools gave, and the record is their store. Code that works on them is for tools of the environment:
 *    `createRuntime` keeps an interpreter for an episode, with `inject` and `take`.
 * 2. Only the first tier of compaction: old results give way, in blocks, so that a path goes on in between; `every: 1` is the
 *    source's. The second and the third are `summary` and `last-turns`: a prompt over the budget overflows.
 * 3. An act with a call of its own tools is answered here, call by call; what it calls besides is to be called again.
 */
export const variables: ContextStrategy = defineContext<VariablesOptions, VariablesState>({
  name: 'variables',
  summary: 'all turns, with long results as variables that acts name',
  options: z.strictObject({
    limit: z
      .int()
      .min(32)
      .default(400)
      .describe('Characters of a result that stands in the prompt; longer ones are variables'),
    keep: z.int().min(1).default(6).describe('Latest results that always stay in the prompt'),
    every: z
      .int()
      .min(0)
      .default(0)
      .describe('Results that are left out at a time; 0: as many as `keep`; 1: as soon as they are older'),
    placeholder: z.string().default('Result left out.').describe('What stands for an older result'),
  }),
  plans: true,
  says: ({ placeholder }) => [placeholder],
  adds: () => own.map(({ name }) => name),
  start: (): VariablesState => ({ folded: 0 }),
  window(view) {
    const { limit, keep, placeholder } = view.options;
    const every = view.options.every || keep;
    const isResult = isResultIn(view);
    const folded = foldedBy(resultCounts(view, isResult), view.state.folded, keep + every - 1, every);
    let variable = 0;
    const parts = withResults(
      view,
      (result, index, turn) => {
        // What this context answered is read as it is.
        const name = isAnswer(view, turn) ? undefined : nameOf(variable++);
        if (name !== undefined && result.content.length > limit)
          return { ...result, content: described(result, name, limit) };
        return index < folded ? { ...result, content: placeholder } : result;
      },
      isResult,
    );
    return { conversation: { parts, tools: [...(view.tools ?? []), ...own] }, state: { folded } };
  },
  answer: (call, view) =>
    answerOwn(call, isOwn, view.state, (use, state) => ({ text: read(use, view), state })),
  deliver: (text, view) => withValues(text, view),
  script: (_purpose, view, _session, planned) => scripted(view, planned),
});
