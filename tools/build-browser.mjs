/**
 * Bundles for browsers. What needs Node lies in folders called `node/`, and a module there may have a twin in a `browser/`
 * folder beside: here the twin takes its place. The schema library has one of ours, too. Built-in modules of Node become functions that throw, so that what only
 * Node calls may stay in a file; a bundle that still asks for Node is an error.
 */

import { existsSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { resolve } from 'node:path';
import { build } from 'rolldown';

const absent = '\0absent:';
/** Packages that a page does not carry, and what stands for them there. */
const stands = { zod: 'src/browser/schemas/zod.ts' };

const forBrowsers = {
  name: 'for-browsers',
  async resolveId(source, importer, options) {
    const name = source.replace(/^node:/, '');
    if (source.startsWith('node:') || builtinModules.includes(name)) return absent + name;
    if (Object.hasOwn(stands, source)) return resolve(stands[source]);
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    const twin = found?.id.replace(/\/node\/([^/]+)$/, '/browser/$1');
    return twin !== undefined && twin !== found.id && !/node_modules/.test(twin) && existsSync(twin)
      ? twin
      : found;
  },
  async load(id) {
    if (!id.startsWith(absent)) return undefined;
    const name = id.slice(absent.length);
    const names = Object.keys(await import(`node:${name}`)).filter((one) => /^[a-z_$][\w$]*$/i.test(one));
    return [
      `const missing = () => { throw new Error('node:${name} is not there in a browser'); };`,
      ...names.filter((one) => one !== 'default').map((one) => `export const ${one} = missing;`),
      'export default {};',
    ].join('\n');
  },
};

/** @param external of the bundle: what its user installs */
export async function bundleForBrowsers({ input, file, external = [], minify = true, tsconfig }) {
  const { output } = await build({
    input,
    external,
    platform: 'browser',
    logLevel: 'warn',
    checks: { pluginTimings: false },
    tsconfig: tsconfig ?? 'src/browser/demo/tsconfig.json',
    transform: { target: 'es2022' },
    plugins: [forBrowsers],
    // None of our modules does anything by being loaded, but for those that styles and pages name themselves.
    treeshake: { moduleSideEffects: (id) => /\/src\/(view\/page|browser\/demo)\//.test(id) },
    output: { file, format: 'esm', minify, comments: false, codeSplitting: false },
  });
  const [chunk] = output;
  const asked = [...chunk.imports, ...chunk.dynamicImports].filter((name) => !external.includes(name));
  if (asked.length > 0) throw new Error(`${file} asks for ${asked.join(', ')}`);
  const carried = Object.keys(stands).filter((name) =>
    Object.keys(chunk.modules).some((id) => id.includes(`/node_modules/${name}/`)),
  );
  if (carried.length > 0) throw new Error(`${file} carries ${carried.join(', ')}`);
  return chunk;
}

/** `turnwise/browser`, one module without onnxruntime, which whoever uses it brings. */
export async function buildBrowserModule(file = 'dist/browser/index.js') {
  return bundleForBrowsers({ input: 'src/exports/browser.ts', file });
}
