/**
 * Builds the demo into a folder that any web server can serve: `npm run demo [-- FOLDER]`. With `--serve` it serves it on this
 * machine as well, with the headers that threads need.
 */

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleForBrowsers } from './build-browser.mjs';
import { readStyles } from './build-page.mjs';
import { demoHeaders, pagePolicy, serveDemo } from './serve-demo.mjs';

const source = 'src/browser/demo';
const policyHeader = 'content-security-policy';
const runtimeFiles = [
  'ort.wasm.min.mjs',
  'ort-wasm-simd-threaded.mjs',
  'ort-wasm-simd-threaded.wasm',
  'ort.webgpu.min.mjs',
  'ort-wasm-simd-threaded.asyncify.mjs',
  'ort-wasm-simd-threaded.asyncify.wasm',
];

/** Of `folder` all is replaced. */
export async function buildDemo(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'ort'), { recursive: true });
  await bundleForBrowsers({ input: `${source}/main.tsx`, file: join(folder, 'main.js') });
  await bundleForBrowsers({ input: `${source}/worker.ts`, file: join(folder, 'worker.js') });
  writeFileSync(join(folder, 'main.css'), readStyles([`${source}/demo.css`]));
  const page = readFileSync(`${source}/index.html`, 'utf8').replace('{policy}', pagePolicy);
  writeFileSync(join(folder, 'index.html'), page);
  const runtime = dirname(createRequire(import.meta.url).resolve('onnxruntime-web'));
  for (const name of runtimeFiles) copyFileSync(join(runtime, name), join(folder, 'ort', name));
  writeFileSync(join(folder, '_headers'), headersFile());
}

/** Hosts of static pages read it. Where several rules name one header, all hold: so a policy is named for no path twice. */
function headersFile() {
  const { [policyHeader]: _, ...everywhere } = demoHeaders('/');
  const rules = {
    '/*': everywhere,
    ...Object.fromEntries(
      ['/', '/index.html', '/worker.js', '/ort/*'].map((path) => [
        path,
        { [policyHeader]: demoHeaders(path)[policyHeader] },
      ]),
    ),
  };
  return Object.entries(rules)
    .flatMap(([path, headers]) => [
      path,
      ...Object.entries(headers).map((pair) => `  ${pair.join(': ')}`),
      '',
    ])
    .join('\n');
}

if (fileURLToPath(import.meta.url) === resolve(process.argv[1] ?? '')) {
  const { values, positionals } = parseArgs({
    options: {
      serve: { type: 'boolean', default: false },
      port: { type: 'string', default: '8520' },
      'one-thread': { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const folder = resolve(positionals[0] ?? 'demo');
  await buildDemo(folder);
  process.stdout.write(`The demo is in ${folder}\n`);
  if (values.serve) {
    const { origin } = await serveDemo(folder, Number(values.port), { isolated: !values['one-thread'] });
    process.stdout.write(`Served at ${origin}/\n`);
  }
}
