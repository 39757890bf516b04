/** The trained model of a run as a folder or a file that other programs load. */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { TurnwiseError } from '../core/errors.ts';
import { TinkerEngine } from '../engine/tinker/tinker-engine.ts';
import type { WrittenType } from '../model/gguf/quantise.ts';
import { commandIn } from '../store/runs.ts';
import { typedSource } from './load/world-source.ts';
import { type ModelRequest, openModel } from './open-model.ts';

/** The adapter alone, for peft; or the whole model with the adapter merged into it, as a folder or as a GGUF file. */
export type ExportKind = 'adapter' | 'merged' | { readonly gguf: WrittenType };

/**
 * Write the model of a checkpoint to a folder or file that does not exist yet.
 *
 * @returns what was written: the whole model too where all of its weights were trained
 * @throws TurnwiseError `export-exists`, `export-unsupported`
 */
export async function exportModel(
  request: ModelRequest,
  kind: ExportKind,
  to: string,
): Promise<'adapter' | 'model' | 'gguf'> {
  requireFree(to);
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
    if (engine instanceof TinkerEngine && kind !== 'adapter') {
      throw new TurnwiseError('export-unsupported', {
        what: `The weights that the adapter of run "${name}" belongs to are on a server`,
        seen: kind === 'merged' ? '--merged' : to,
        next: 'Export the adapter, and merge it into the model with peft',
        fields: { run: name },
      });
    }
    if (engine instanceof TinkerEngine || (engine.lora !== undefined && kind === 'adapter')) {
      await engine.exportAdapter(to);
      return 'adapter';
    }
    if (typeof kind === 'object') {
      await engine.exportGguf(to, kind.gguf);
      return 'gguf';
    }
    await engine.exportModel(to);
    return 'model';
  } finally {
    await engine.close();
  }
}

function requireFree(to: string): void {
  if (!existsSync(to)) return;
  const isFolder = statSync(to).isDirectory();
  if (isFolder && readdirSync(to).length === 0) return;
  throw new TurnwiseError('export-exists', {
    what: isFolder ? `The folder ${to} is not empty` : `The file ${to} exists`,
    next: 'Name one that does not exist',
    fields: { folder: to },
  });
}
