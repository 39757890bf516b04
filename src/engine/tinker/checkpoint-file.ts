/** `tinker.json`, what a checkpoint of a run on a server consists of here: where the server keeps the weights. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';

const fileName = 'tinker.json';

const schema = z.strictObject({
  baseUrl: z.string(),
  baseModel: z.string(),
  loraRank: z.int(),
  version: z.int().min(0),
  path: z.string(),
  frozenPath: z.string().nullable(),
});

export type CheckpointFile = z.output<typeof schema>;

export async function writeCheckpointFile(folder: string, checkpoint: CheckpointFile): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, fileName), `${JSON.stringify(checkpoint, null, 2)}\n`);
}

/** @throws TurnwiseError `checkpoint-missing`, or `checkpoint-mismatch` where it belongs to another model */
export async function readCheckpointFile(
  folder: string,
  { baseModel, loraRank }: Pick<CheckpointFile, 'baseModel' | 'loraRank'>,
): Promise<CheckpointFile> {
  const file = join(folder, fileName);
  let parsed: ReturnType<typeof schema.safeParse>;
  try {
    parsed = schema.safeParse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new TurnwiseError('checkpoint-missing', {
      what: `Cannot read ${fileName} of the checkpoint`,
      seen: String(cause),
      next: 'Check the checkpoint folder, or load another checkpoint',
      fields: { file },
      cause,
    });
  }
  if (parsed.success && parsed.data.baseModel === baseModel && parsed.data.loraRank === loraRank)
    return parsed.data;
  throw new TurnwiseError('checkpoint-mismatch', {
    what: `${fileName} belongs to another model`,
    seen: parsed.success ? `${parsed.data.baseModel}, rank ${parsed.data.loraRank}` : parsed.error.message,
    allowed: `${baseModel}, rank ${loraRank}`,
    next: 'Use the model settings that the checkpoint was trained with',
    fields: { file },
  });
}
