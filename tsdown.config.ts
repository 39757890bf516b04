import { defineConfig } from 'tsdown';

/** File-to-file output: workers are found by their path relative to the module that starts them. */
export default defineConfig({
  entry: [
    'src/exports/*.ts',
    'src/cli/main.ts',
    'src/engine/embedded/worker.ts',
    'src/env/sandbox/worker.ts',
    'envs/*/index.ts',
    'bench/main.ts',
  ],
  format: 'esm',
  platform: 'node',
  target: 'node20',
  unbundle: true,
  dts: true,
  fixedExtension: false,
  clean: true,
  logLevel: 'warn',
});
