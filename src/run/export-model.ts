/** The trained model of a run as a folder that other programs load. */

import { existsSync, readdirSync } from 'node:fs';
import { TurnwiseError } from '../core/errors.ts';
import { TinkerEngine } from '../engine/tinker/tinker-engine.ts';
import { commandIn } from '../store/runs.ts';
import { typedSource } from './load/world-source.ts';
import { type ModelRequest, openModel } from './open-checkpoint.ts';

/** The adapter alone, for peft; or the whole model with the adapter merged into it. */
export type ExportKind = 'adapter' | 'merged';

/**
 * Write the model of a checkpoint to a folder that does not exist yet.
 *
 * @returns what was written: the whole model too where all of its weights were trained
 * @throws TurnwiseError `export-exists`, `export-unsupported`
 */
export async function exportModel(
  request: ModelRequest,
  kind: ExportKind,
  folder: string,
): Promise<'adapter' | 'model'> {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new TurnwiseError('export-exists', {
      what: `The folder ${folder} is not empty`,
      next: 'Name one that does not exist',
      fields: { folder },
    });
  }
  const { root, name } = request;
  const { engine, card, file } = await openModel(request);
  try {
    if ('words' in card) {
      const world = typedSource(file.world.source);
      throw new TurnwiseError('export-unsupported', {
        what: `The model of run "${name}" was made for its task, and no other program knows its words`,
        allowed: 'runs that started from --model',
        ...(world && { next: `Play it with: ${commandIn(root, `play ${world} --run ${name}`)}` }),
        fields: { run: name },
      });
    }
    if (engine instanceof TinkerEngine && kind === 'merged') {
      throw new TurnwiseError('export-unsupported', {
        what: `The weights that the adapter of run "${name}" belongs to are on a server`,
        seen: '--merged',
        next: 'Export the adapter, and merge it into the model with peft',
        fields: { run: name },
      });
    }
    const isAdapter = engine instanceof TinkerEngine || (engine.lora !== undefined && kind === 'adapter');
    await (isAdapter ? engine.exportAdapter(folder) : engine.exportModel(folder));
    return isAdapter ? 'adapter' : 'model';
  } finally {
    await engine.close();
  }
}
