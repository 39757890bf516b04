/** Writes src/engine/embedded/training/adam-kernel.ts from adam-kernel.wat: `npm run assemble`. */

import { readFile, writeFile } from 'node:fs/promises';
import wabt from 'wabt';

const folder = new URL('../src/engine/embedded/training/', import.meta.url);
const source = await readFile(new URL('adam-kernel.wat', folder), 'utf8');
const module = (await wabt()).parseWat('adam-kernel.wat', source, { simd: true });
const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64');
const lines = base64.match(/.{1,100}/g).map((line) => `  '${line}',`);
await writeFile(
  new URL('adam-kernel.ts', folder),
  `/** The bytes of adam-kernel.wat, so that nothing is read or assembled at run time: \`npm run assemble\`. */

const base64: readonly string[] = [
${lines.join('\n')}
];

export const adamKernel: Uint8Array<ArrayBuffer> = Uint8Array.from(atob(base64.join('')), (byte) =>
  byte.charCodeAt(0),
);
`,
);
