import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take a minute, since they start process after process: begun last, they would be waited for alone. */
const slow = ['cli', 'races-order', 'mail-process', 'start', 'secrets', 'audit-cli', 'exchange-cli', 'demo'];
const isSlow = ({ moduleId }: TestSpecification) => slow.includes(basename(moduleId, '.test.ts'));

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/setup.ts'],
    // More than there are cores on a small machine: many files mostly wait, for processes and for the database.
    maxWorkers: Math.max(3, availableParallelism()),
    // What one file loads and opens serves the next: loading it a hundred times took a seventh of the run.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: SlowFirst },
    testTimeout: 240_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
