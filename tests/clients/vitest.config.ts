import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const anthropic = fileURLToPath(new URL('node_modules/@anthropic-ai/sdk', import.meta.url));

export default defineConfig({
  // An example outside of this folder needs it, and its helpers are other files.
  resolve: { alias: [{ find: /^@anthropic-ai\/sdk$/, replacement: anthropic }] },
  test: {
    include: ['tests/clients/*.clients.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});
