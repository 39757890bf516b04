/** Builds dist/: file-to-file JavaScript and type declarations, since workers are found by their path beside the module. */

import { build } from 'tsdown';

await build({
  config: false,
  entry: [
    'src/exports/*.ts',
    'src/cli/main.ts',
    'src/engine/embedded/worker.ts',
    'src/engine/embedded/lane-worker.ts',
    'envs/*/index.ts',
    'bench/main.ts',
    'bench/engine-lora.ts',
    'bench/memory-loop.ts',
    'examples/*.ts',
    'examples/agents/*.ts',
    'tools/interop/*.ts',
    '!examples/**/*.test.ts',
  ],
  format: 'esm',
  platform: 'node',
  target: 'node20',
  unbundle: true,
  dts: true,
  fixedExtension: false,
  clean: true,
  logLevel: 'error',
});
