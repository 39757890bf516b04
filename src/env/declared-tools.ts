/** Tools that someone else declares, with JSON Schema: what is needed to read calls of them and to refuse bad ones. */

import { z } from 'zod';
import type { JsonObject } from '../core/json/json.ts';
import type { DescribedTool } from './tool-protocol.ts';

/** A declaration as servers send it: a name, perhaps a description, and the JSON Schema of the arguments. */
export const toolDeclaration: z.ZodType<{
  name: string;
  description?: string | null | undefined;
  parameters?: JsonObject | null | undefined;
}> = z.object({
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.json()).nullish(),
});

/** The tool of a declaration. A schema that cannot be understood lets every object pass: the server will judge it. */
export function declaredTool(declaration: z.output<typeof toolDeclaration>): DescribedTool {
  return {
    name: declaration.name,
    description: declaration.description ?? '',
    parameters: objectSchema(declaration.parameters ?? {}),
  };
}

function objectSchema(schema: JsonObject): z.ZodObject {
  try {
    const parsed = z.fromJSONSchema({ type: 'object', properties: {}, ...schema } as never);
    if (parsed instanceof z.ZodObject) return parsed;
  } catch {
    // Falls through: an unusual schema must not keep the tool from being used.
  }
  return z.looseObject({});
}
