import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'envs/**/*.test.ts',
      'tests/**/*.test.ts',
      'examples/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    setupFiles: ['tests/property-seed.ts'],
    testTimeout: 30_000,
    pool: 'forks',
    // Of two cores Vitest would leave one idle.
    maxWorkers: '100%',
  },
});
