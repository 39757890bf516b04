/** Tools an agent can call: a name, a strict schema of its arguments, and what it does. */

import { z } from 'zod';
import type { JsonObject } from '../core/json/json.ts';

/** A tool whose arguments are checked each time it runs. `Context` is what a session lends it: a sandbox, a store. */
export interface Tool<Context = void> {
  readonly name: string;
  readonly description: string;
  readonly parameters: z.ZodObject;
  /** Its call is the last: the episode ends with it. */
  readonly ends?: true;
  /** Raises a ZodError on arguments outside `parameters`. The result is what the agent reads. */
  run(input: unknown, context: Context, signal?: AbortSignal): Promise<string>;
}

export interface ToolDefinition<Parameters extends z.ZodObject, Context> {
  readonly name: string;
  readonly description: string;
  /** An object schema; unknown keys are refused whether or not it says so. */
  readonly parameters: Parameters;
  /** Its call is the last: the episode ends with it. */
  readonly ends?: true;
  /** What the agent reads. It should stop when `signal` aborts. */
  run(input: z.output<Parameters>, context: Context, signal: AbortSignal): string | Promise<string>;
}

/**
 * A tool, with the type of its arguments inferred from their schema.
 *
 * @example
 * const read = defineTool({
 *   name: 'read',
 *   description: 'Read a file.',
 *   parameters: z.object({ path: z.string() }),
 *   run: ({ path }, { folder }: { folder: string }, signal) => readFile(join(folder, path), { encoding: 'utf8', signal }),
 * });
 */
export function defineTool<Parameters extends z.ZodObject, Context = void>(
  definition: ToolDefinition<Parameters, Context>,
): Tool<Context> {
  const parameters = definition.parameters.strict();
  return {
    name: definition.name,
    description: definition.description,
    parameters,
    ...(definition.ends && { ends: definition.ends }),
    run: async (input, context, signal = new AbortController().signal) =>
      definition.run(parameters.parse(input) as z.output<Parameters>, context, signal),
  };
}

/** The tools as function declarations with JSON Schema, the form that chat templates and APIs take. */
export function describeTools(
  tools: readonly Pick<Tool, 'name' | 'description' | 'parameters'>[],
): JsonObject[] {
  return tools.map(({ name, description, parameters }) => {
    const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: 'input' });
    return { type: 'function', function: { name, description, parameters: schema as JsonObject } };
  });
}
