/** Tools as short-term memory: of many tools that a session offers, the policy is offered those that are loaded. */

import { z } from 'zod';
import type { Call, Part } from '../../core/episode.ts';
import { type Message, type ToolDeclaration, user } from '../../core/messages.ts';
import { answerOwn, namesCalled, notCarriedOut, type OwnCall } from './own-calls.ts';
import { type Ask, type ContextStrategy, defineContext, type PlannedAct, type View } from './strategy.ts';
import { found, nameIn, namesIn, ownTools, REMOVE, refusedTool, SEARCH } from './tool-search.ts';

export const MODES = ['autonomous', 'workflow', 'hybrid'] as const;

export interface ToolMemoryOptions {
  readonly mode: (typeof MODES)[number];
  readonly most: number;
  readonly results: number;
  readonly loaded: string;
  readonly prune: string;
  readonly search: string;
}

/** Names of the loaded tools, the oldest first; and the lists that were read, by how many acts came before. */
export type ToolMemoryState = {
  readonly loaded: readonly string[];
  readonly lists: readonly { readonly act: number; readonly text: string }[];
};

type Memory = View<ToolMemoryOptions, ToolMemoryState>;
type Answered = { readonly text: string; readonly state: ToolMemoryState };

/** Those of the loaded tools that the session still offers: an agent may declare others in every request. */
const offered = ({ tools = [] }: Memory, loaded: readonly string[]): readonly ToolDeclaration[] =>
  loaded.flatMap((name) => tools.find((tool) => tool.name === name) ?? []);

const searched = ({ tools = [], options }: Memory, query: string, loaded: readonly string[]): string[] =>
  found(tools, query, loaded, options.results);

/** What the fixed steps ask: which tools go, and which are wanted. */
async function fixedSteps(view: Memory, before: readonly string[], ask: Ask): Promise<readonly string[]> {
  const { fresh, options } = view;
  const isAsked = fresh.some(({ role }) => role === 'user');
  if (options.mode === 'autonomous' || !isAsked) return before;
  const told = (instruction: string, names: readonly string[]): Part[] => [
    ...fresh,
    user([instruction, ...names].join(' ')),
  ];
  let loaded = before;
  if (loaded.length > 0) {
    const gone = namesIn((await ask('prune', { parts: told(options.prune, loaded), tools: [] })).text);
    loaded = loaded.filter((name) => !gone.includes(name));
  }
  if (options.mode === 'hybrid') return loaded;
  const query = (await ask('search', { parts: told(options.search, loaded), tools: [] })).text;
  // Nobody reads a refusal here: the best that fit are loaded.
  return [...loaded, ...searched(view, query, loaded).slice(0, options.most - loaded.length)];
}

/** All acts with the lists that were read before them, then what is new. */
function withLists({ calls, fresh }: Memory, lists: ToolMemoryState['lists']): readonly Part[] {
  const acts = calls.filter(({ purpose }) => purpose === 'act');
  const listAt = (act: number): Message[] =>
    lists.filter((list) => list.act === act).map(({ text }) => user(text));
  return [
    ...acts.flatMap(({ id }, act): Part[] => [{ shown: id }, ...listAt(act), { call: id }]),
    ...fresh,
    ...listAt(acts.length),
  ];
}

/** A scripted player loads the tool that it needs next, and makes room for it. */
function scripted(purpose: string, view: Memory, planned: PlannedAct | undefined): string {
  const { options, tools = [], fresh } = view;
  const loaded = offered(view, view.state.loaded).map(({ name }) => name);
  const uses = planned?.reply.toolCalls.map(({ name }) => name) ?? [];
  const isUnloaded = (wanted: string): boolean =>
    tools.some(({ name }) => name === wanted) && !loaded.includes(wanted);
  const wanted = uses.find(isUnloaded);
  if (purpose === 'prune') {
    const needless = loaded.filter((name) => !uses.includes(name));
    // Without a plan nobody knows which are needless, but room has to be made.
    const gone = planned === undefined && loaded.length + options.results <= options.most ? [] : needless;
    return gone.length > 0 ? gone.join(' ') : 'none';
  }
  if (purpose === 'search') {
    if (planned === undefined) return fresh.findLast(({ role }) => role === 'user')?.content ?? 'none';
    return wanted ?? 'none';
  }
  if (planned === undefined || wanted === undefined || options.mode === 'workflow')
    return planned?.text ?? '';
  const isFull = loaded.length + searched(view, wanted, loaded).length > options.most;
  if (!isFull) return planned.call(SEARCH, { query: wanted });
  return options.mode === 'autonomous' ? planned.call(REMOVE, { names: loaded.join(' ') }) : planned.text;
}

/** What is answered to one call of the context's own tools. */
function answered(use: OwnCall, view: Memory, state: ToolMemoryState): Answered {
  const { options } = view;
  const { loaded } = state;
  if (use.name === SEARCH) {
    const more = searched(view, String(use.arguments.query ?? ''), loaded);
    if (more.length === 0) return { text: 'Found no other tool.', state };
    if (loaded.length + more.length > options.most) {
      const next = options.mode === 'autonomous' ? 'remove some first' : 'some can go at the next message';
      const text = `${more.length} more would be over the ${options.most} tools that may be loaded: ${next}.`;
      return { text, state };
    }
    return { text: `Loaded ${more.join(' ')}`, state: { ...state, loaded: [...loaded, ...more] } };
  }
  const names = namesIn(String(use.arguments.names ?? ''));
  const gone = names.filter((name) => loaded.includes(name));
  const unknown = names.filter((name) => !loaded.includes(name));
  const text = [
    ...(gone.length > 0 ? [`Removed ${gone.join(' ')}`] : []),
    ...(unknown.length > 0 ? [`Not loaded: ${unknown.join(' ')}`] : []),
  ].join('. ');
  const left = loaded.filter((name) => !gone.includes(name));
  return { text: text || 'Removed nothing.', state: { ...state, loaded: left } };
}

/** What is answered to an act with a call of a tool that is not loaded: nothing of it is carried out. */
function refusal(call: Call, { tools, state: { loaded } }: Memory): string | undefined {
  const refused = refusedTool(call);
  if (refused === undefined || !tools?.some(({ name }) => name === refused)) return undefined;
  const text = `${refused} is not loaded. Loaded: ${loaded.join(' ') || 'none'}`;
  const others = namesCalled(call.text).filter((name) => name !== refused);
  return [text, ...others.map(notCarriedOut)].join('. ');
}

/**
 * A turn offers the loaded tools alone. In mode `autonomous` the policy has two tools besides, which search for others and
 * remove loaded ones. In `workflow` it is asked before each message of a user which tools go, and what to search for. In
 * `hybrid` it is asked which go, and searches by its own tool. Models whose prompts describe no tools read their names.
 *
 * Source: MemTool (arXiv 2507.21428). Deviations:
 * 1. A search compares words with names and descriptions, without embeddings: the same query finds the same tools.
 * 2. A call of a tool that is not loaded is answered with the names of those that are.
 * 3. Where an environment has no tool messages, each of its observations is a message of a user.
 * 4. An act with a call of its own tools is answered here, call by call; what it calls besides is to be called again.
 * 5. A search that finds too many is refused, but in `workflow`, where nobody reads that: the best that fit are loaded.
 * 6. A reminder of a turn control is a message of a user, too: fixed questions come before each.
 */
export const toolMemory: ContextStrategy = defineContext<ToolMemoryOptions, ToolMemoryState>({
  name: 'tool-memory',
  summary: 'all turns, and of the tools those that the policy loaded',
  options: z
    .strictObject({
      mode: z
        .enum(MODES)
        .default('autonomous')
        .describe('Who loads and removes tools: the policy by tools of its own, fixed questions, or both'),
      most: z.int().min(1).default(8).describe('Most tools that are loaded'),
      results: z.int().min(1).default(3).describe('Tools that a search finds; at most `most`'),
      loaded: z.string().default('').describe('Names of tools that are loaded in the beginning'),
      prune: z
        .string()
        .default('Which of these tools are needed no longer?')
        .describe('The message that asks which tools go, before their names'),
      search: z
        .string()
        .default('Which other tools are needed? Loaded:')
        .describe('The message that asks what to search for, before the names of loaded tools'),
    })
    .refine(({ results, most }) => results <= most, { path: ['results'], message: 'at most `most`' }),
  needsTools: true,
  adds: ({ mode }) => ownTools(mode).map(nameIn),
  plans: true,
  says: ({ mode, loaded, prune, search }) => (mode === 'autonomous' ? [loaded] : [loaded, prune, search]),
  start: ({ loaded }): ToolMemoryState => ({ loaded: namesIn(loaded), lists: [] }),
  async window(view, ask) {
    const { state, options, showsTools } = view;
    const before = offered(view, state.loaded).map(({ name }) => name);
    const loaded = await fixedSteps(view, before, ask);
    const own = ownTools(options.mode);
    const tools = [...offered(view, loaded), ...own];
    const text = ['tools', ...tools.map(nameIn)].join(' ');
    const isNew = !showsTools && state.lists.at(-1)?.text !== text;
    const act = view.calls.filter(({ purpose }) => purpose === 'act').length;
    const lists = isNew ? [...state.lists, { act, text }] : state.lists;
    return { conversation: { parts: withLists(view, lists), tools }, state: { loaded, lists } };
  },
  answer(call, view) {
    const { state } = view;
    const text = refusal(call, view);
    if (text !== undefined) return { messages: [{ role: 'tool', content: text }], state };
    const own = ownTools(view.options.mode).map(nameIn);
    return answerOwn(
      call,
      (name) => own.includes(name),
      state,
      (use, before) => answered(use, view, before),
    );
  },
  script: (purpose, view, _session, planned) => scripted(purpose, view, planned),
});
