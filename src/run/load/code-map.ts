/** Source maps: where a position in generated code came from. */

import { SourceMap } from 'node:module';

/** The parts of a source map that Node reads. */
export interface CodeMap {
  readonly version: number;
  readonly file: string;
  readonly sources: readonly string[];
  readonly sourcesContent: readonly string[];
  readonly names: readonly string[];
  readonly mappings: string;
}

/** Lines count from 1, columns from 0, as in a bundler's messages. */
export interface Place {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

export function originalPlace(map: CodeMap, line: number, column: number): Place | undefined {
  const payload = {
    ...map,
    sources: [...map.sources],
    sourcesContent: [...map.sourcesContent],
    names: [...map.names],
    sourceRoot: '',
  };
  const entry = new SourceMap(payload).findEntry(line - 1, column);
  if (!('originalSource' in entry) || !entry.originalSource) return undefined;
  return { source: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn };
}
