/** Sinks as the command line names them: `kind:target`, or a file that exports one. */

import { resolve } from 'node:path';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import { isFileReference } from '../load/definitions.ts';
import { loadExport } from '../load/load-export.ts';
import { csv } from './csv.ts';
import { jsonLines } from './json-lines.ts';
import { otlp } from './otlp/otlp.ts';
import type { Sink } from './sink.ts';
import { tensorboard } from './tensorboard/tensorboard.ts';
import { wandb } from './wandb/wandb.ts';

const kinds: Readonly<Record<string, { readonly target: string; make(target: string): Sink }>> = {
  tensorboard: { target: 'DIR', make: tensorboard },
  wandb: { target: '', make: (folder) => wandb(folder === '' ? {} : { folder }) },
  otlp: { target: 'URL', make: toCollector },
  csv: { target: 'FILE', make: csv },
  jsonl: { target: 'FILE', make: jsonLines },
};

/** For help. */
export const sinkForms = `${Object.entries(kinds)
  .map(([kind, { target }]) => (target === '' ? kind : `${kind}:${target}`))
  .join(', ')}, or ./file.ts`;

/**
 * The sinks of a command line, in its order.
 *
 * @throws TurnwiseError `sink-invalid`, `file-unknown`, `file-unusable`
 */
export async function namedSinks(words: readonly string[]): Promise<Sink[]> {
  const twice = words.find((word, index) => words.indexOf(word) < index);
  if (twice !== undefined) throw invalid(twice, { what: 'A sink was named twice' });
  return Promise.all(words.map(sinkOf));
}

async function sinkOf(word: string): Promise<Sink> {
  if (isFileReference(word)) {
    const wanted = { noun: 'sink', makers: 'an object with event(event)', of: asSink };
    return (await loadExport(word, wanted)).value;
  }
  const [name = ''] = word.split(':', 1);
  const target = word.slice(name.length + 1);
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (!kind) {
    const near = nearest(name, Object.keys(kinds));
    throw invalid(word, {
      what: 'There is no sink of that kind',
      ...(near && { next: `Did you mean ${near}?` }),
    });
  }
  if (target === '' && kind.target !== '') {
    throw invalid(word, { what: `The sink ${name} needs a target: ${name}:${kind.target}` });
  }
  return kind.make(name === 'otlp' || target === '' ? target : resolve(target));
}

/** `http://host:4318?episodes=16`. */
function toCollector(target: string): Sink {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalid(`otlp:${target}`, { what: 'The address of a collector begins with http:// or https://' });
  }
  if (url.username !== '' || url.password !== '') {
    throw new TurnwiseError('sink-invalid', {
      what: 'An address holds no password, since addresses end in histories and logs',
      next: 'Pass it in OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Basic%20…',
    });
  }
  const { episodes = '8', ...others } = Object.fromEntries(url.searchParams);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined || !/^\d{1,9}$/.test(episodes)) {
    throw invalid(`otlp:${target}`, { what: 'The address of a collector takes ?episodes=NUMBER' });
  }
  url.search = '';
  return otlp(url.href, { episodes: Number(episodes) });
}

function asSink(value: unknown): Sink | undefined {
  const holds = typeof value === 'object' && value !== null && 'event' in value;
  return holds && typeof value.event === 'function' ? (value as Sink) : undefined;
}

function invalid(seen: string, parts: { readonly what: string; readonly next?: string }): TurnwiseError {
  return new TurnwiseError('sink-invalid', { seen, allowed: sinkForms, ...parts, fields: { sink: seen } });
}
