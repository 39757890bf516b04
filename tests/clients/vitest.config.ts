import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/clients/*.clients.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});
