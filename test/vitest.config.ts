import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { listWithout } from './support/plugin-list.ts';

const root = `${import.meta.dirname}/..`;

/** The slow tests that CI runs too: a race and a property. */
const samples = ['property/courses', 'race/course-titles'].map((name) => `test/slow/${name}.test.ts`);

/** Reads what all the others have sent. */
const last = 'test/api/database/tenant-statements.test.ts';

/** A worker ends where the next file is of another project, so all files of a project follow each other. */
const projects = ['slow', 'sample', 'fast', 'last'];
const projectRank = ({ project }: TestSpecification) => projects.indexOf(project.name);

/** Within a project the files that took longest start first, or the largest where no run is recorded. */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    return (await super.sort(files)).sort((a, b) => projectRank(a) - projectRank(b));
  }
}

/** The server without the plugins that WITHOUT_PLUGINS names. */
const withoutPlugins = (names: string[]) => ({
  name: 'without-plugins',
  enforce: 'pre' as const,
  load: (id: string) => (id.endsWith('/src/plugins.ts') ? listWithout(names) : undefined),
});
const removed = process.env['WITHOUT_PLUGINS'];
const plugins = removed === undefined ? [] : [withoutPlugins(removed.split(','))];

const shared = {
  root,
  // Many files mostly wait for processes and for the database.
  maxWorkers: Math.max(4, availableParallelism()),
  // Files of one worker share modules and the database pool: loading them per file took a seventh of the run.
  isolate: false,
  restoreMocks: true,
  // A cached module would be that of the list of all plugins.
  experimental: { fsModuleCache: removed === undefined, fsModuleCachePath: `${root}/.cache/vitest` },
};
// Long enough for a machine with ten times its usual load.
const fast = { ...shared, testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } };
const slow = { ...shared, testTimeout: 300_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } };

export default defineConfig({
  test: {
    root,
    globalSetup: ['test/support/setup.ts'],
    sequence: { sequencer: ByProject },
    projects: [
      {
        plugins,
        test: { ...fast, name: 'fast', include: ['test/api/**/*.test.ts', 'test/unit/**/*.test.ts'], exclude: [last] },
      },
      { plugins, test: { ...fast, name: 'last', include: [last], sequence: { groupOrder: 1 } } },
      { test: { ...slow, name: 'sample', include: samples } },
      {
        test: { ...slow, name: 'slow', include: ['test/slow/**/*.test.ts', 'test/client/*.test.ts'], exclude: samples },
      },
    ],
  },
});
