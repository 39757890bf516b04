/** A task graph: the policy writes down what the task has become, slot by slot, and reads the slots that matter now. */

import { z } from 'zod';
import type { Part } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { changed, type Graph, pathsOf, slotsIn } from './graph-changes.ts';
import { type ContextStrategy, defineContext } from './strategy.ts';

export interface TaskGraphOptions {
  readonly instruction: string;
  readonly act: string;
  readonly nodes: number;
}

/** The graph, and the slots that the latest change was about. */
export type TaskGraphState = { readonly graph: Graph; readonly about: readonly string[] };

const outline = (graph: Graph): string => ['slots', ...graph.map(({ slot }) => slot)].join(' ');

/**
 * Before each act the policy is told the names of all slots, and writes how the graph changes: `new SLOT is VALUE`, `update SLOT
 * is VALUE` or `check SLOT`, several with `;` between. The first two may say what the slot is `under`, and which slots it `needs`:
 * `update SLOT needs OTHER, ANOTHER` changes these alone. The act reads the opening, the slots that were named with all above them
 * and all that they need, its own last act and what is new; no transcript.
 * A turn that names none reads what the one before it read.
 *
 * Source: Task Memory Engine (arXiv 2504.08525, 2505.19436). Deviations:
 * 1. One completion splits, classifies and fills in, where the source asks a classifier for each part.
 * 2. An update keeps the slot's name, so dependents refer to it as before, and its earlier values are its history.
 * 3. A slot may need any slot but those that need it, where the source allows descendants of its parent alone.
 */
export const taskGraph: ContextStrategy = defineContext<TaskGraphOptions, TaskGraphState>({
  name: 'task-graph',
  summary: 'slots of a task graph that the policy writes, and of them those that matter now',
  options: z.strictObject({
    instruction: z
      .string()
      .default(
        'Write how the task changes: new SLOT is VALUE, update SLOT is VALUE or check SLOT, with ; between; or none. A new or updated slot may be under SLOT and needs SLOT, SLOT.',
      )
      .describe('The message that asks how the graph changes'),
    act: z.string().default('Now act.').describe('The message before an act, after the slots'),
    nodes: z.int().min(1).default(64).describe('Most slots; further ones are not taken'),
  }),
  says: ({ instruction, act }) => [instruction, act],
  start: (): TaskGraphState => ({ graph: [], about: [] }),
  async window(view, ask) {
    const { calls, fresh, options, state } = view;
    const acts = calls.filter(({ purpose }) => purpose === 'act');
    const [first, last] = [acts[0], acts.at(-1)];
    const opening: Part[] = first === undefined ? [] : [{ shown: first.id }];
    const before: Part[] = [...opening, ...(last === undefined ? [] : [{ call: last.id }]), ...fresh];
    const asked = await ask('graph', {
      parts: [...before, user(outline(state.graph)), user(options.instruction)],
    });
    const { graph, about: named } = changed(state.graph, asked.text, options.nodes);
    const about = named.length > 0 ? named : state.about;
    const read = pathsOf(graph, about).map(({ slot, value }) => `${slot} is ${value}`);
    const known = read.length === 0 ? [] : [user(read.join(' ; '))];
    return {
      conversation: { parts: [...before, ...known, user(options.act)] },
      state: { graph, about },
    };
  },
  /** The world's slots, as far as the graph does not say the same; then those that the latest message names. */
  script(_purpose, { state: { graph }, fresh, role }, session) {
    const notes = session?.notes?.(role);
    const slots = session?.slots?.(role) ?? (notes === undefined ? {} : { notes });
    const written = Object.entries(slots).flatMap(([slot, value]) => {
      const before = graph.find((node) => node.slot === slot);
      if (before?.value === value) return [];
      return [`${before === undefined ? 'new' : 'update'} ${slot} is ${value}`];
    });
    const latest = fresh.map(({ content }) => content).join(' ');
    const named = slotsIn(latest, Object.keys(slots)).filter(
      (slot) => graph.find((node) => node.slot === slot)?.value === slots[slot],
    );
    const all = [...written, ...named.map((slot) => `check ${slot}`)];
    return all.length === 0 ? 'none' : all.join(' ; ');
  },
});
