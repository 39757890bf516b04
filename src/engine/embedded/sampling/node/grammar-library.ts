/**
 * The library that makes grammars of schemas, loaded where a completion is held to one for the first time. Its only file is
 * CommonJS in a package of ES modules, which neither `import` nor `require` reads on every version of Node: it is compiled here.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import type * as GrammarLibrary from '@mlc-ai/web-xgrammar';

const require = createRequire(import.meta.url);

let loaded: typeof GrammarLibrary | undefined;

export function grammarLibrary(): typeof GrammarLibrary {
  loaded ??= load();
  return loaded;
}

/** After an error of its native part, whose stack nobody unwinds: the next use loads it anew. */
export function forgetGrammarLibrary(): void {
  loaded = undefined;
}

/** Without a process it takes no part of Node; what it would say on the console is in the error that it throws. */
function load(): typeof GrammarLibrary {
  const file = require.resolve('@mlc-ai/web-xgrammar');
  const names = ['exports', 'module', 'require', '__filename', 'process', 'console'];
  const run = compileFunction(readFileSync(file, 'utf8'), names, { filename: file });
  const module = { exports: {} };
  const silent = { log: () => {}, warn: () => {}, error: () => {} };
  run(module.exports, module, require, file, undefined, silent);
  return module.exports as typeof GrammarLibrary;
}
