import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/setup.ts'],
    // More than there are cores on a small machine: many files mostly wait, for processes and for the database.
    maxWorkers: Math.max(3, availableParallelism()),
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
