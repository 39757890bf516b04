/**
 * Builds dist/: file-to-file JavaScript, since workers are found by their path beside the module, and the type declarations
 * of what the package exports, joined, since half of its files would be declarations otherwise.
 */

import { build } from 'tsdown';
import { buildBrowserModule } from './tools/build-browser.mjs';
import { buildPage } from './tools/build-page.mjs';

const exported = ['src/exports/*.ts', '!src/exports/*.test.ts'];

const common = {
  config: false,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  fixedExtension: false,
  logLevel: 'error',
  // A file holds what its source holds, whoever uses it: cached runs are named by the contents of these files.
  treeshake: false,
};

await build({
  ...common,
  entry: [
    ...exported,
    // One module of its own, below.
    '!src/exports/browser.ts',
    'src/cli/main.ts',
    'src/view/play/play-process.ts',
    'src/engine/embedded/worker.ts',
    'src/engine/embedded/lane-worker.ts',
    'envs/*/index.ts',
    'bench/main.ts',
    'bench/engine/adapters.ts',
    'bench/engine/lora.ts',
    'bench/engine/pretrained-size.ts',
    'bench/memory-loop.ts',
    'bench/size.ts',
    'bench/soak/collecting.ts',
    'bench/soak/disturbance.ts',
    'bench/soak/strangers.ts',
    'bench/view-cost-child.ts',
    'examples/*.ts',
    'examples/agents/*.ts',
    'tools/interop/*.ts',
    'tools/pictures.ts',
    '!examples/**/*.test.ts',
  ],
  unbundle: true,
  // A browser's driver, which only a benchmark needs: as it is installed.
  deps: { neverBundle: ['playwright-core'] },
  dts: false,
  clean: true,
});

await build({
  ...common,
  entry: exported,
  outDir: 'dist/src/exports',
  dts: { emitDtsOnly: true },
  clean: false,
});

await buildPage();
await buildBrowserModule();
