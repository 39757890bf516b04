/** Tools an agent can call: a name, a strict schema of its arguments, and what it does. */

import { z } from 'zod';
import type { JsonObject } from '../core/json/json.ts';

/** A tool whose arguments are checked each time it runs. `Context` is what a session lends it: a sandbox, a store. */
export interface Tool<Context = void> {
  readonly name: string;
  readonly description: string;
  readonly parameters: z.ZodObject;
  /** Raises a ZodError on arguments outside `parameters`. The result is what the agent reads. */
  run(input: unknown, context: Context): Promise<string>;
}

export interface ToolDefinition<Parameters extends z.ZodObject, Context> {
  readonly name: string;
  readonly description: string;
  /** An object schema; unknown keys are refused whether or not it says so. */
  readonly parameters: Parameters;
  run(input: z.output<Parameters>, context: Context): string | Promise<string>;
}

/** A tool, with the type of its arguments inferred from their schema. */
export function defineTool<Parameters extends z.ZodObject, Context = void>(
  definition: ToolDefinition<Parameters, Context>,
): Tool<Context> {
  const parameters = definition.parameters.strict();
  return {
    name: definition.name,
    description: definition.description,
    parameters,
    run: async (input, context) => definition.run(parameters.parse(input) as z.output<Parameters>, context),
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
