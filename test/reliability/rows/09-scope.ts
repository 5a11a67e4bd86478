import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../row.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startPostgres } from '../support/postgres.ts';

type Report = { testResults: { assertionResults: { status: string; ancestorTitles: string[]; title: string }[] }[] };

/** What no scope hides: the same for all, and the row that a key belongs to. */
const unscoped = ['durations', 'schools'];

/** The resource that a test of the matrix is about; some names are cut at their end. */
function resourceOf(title: string) {
  const path = /'(?:GET|POST|PUT|DELETE) \/(?:v2\/)?([^' …]+)/.exec(title)?.[1];
  if (path === undefined) return undefined;
  if (path.startsWith('courses/{course_id}/')) return 'coursedates of a course';
  return path.replace(/\/\{.*$/, '');
}

const row: Row = {
  name: 'scope switched off',
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off' });
    const folder = temporaryFolder(run);

    /** The isolation matrix under these guards: how many tests each resource has, and how many of them fail. */
    async function matrix(name: string, guards: object) {
      const file = join(folder, `${name}.json`);
      const report = ['--reporter=json', `--outputFile=${file}`];
      const args = ['run', '--config', 'test/vitest.config.ts', 'test/isolation.test.ts', ...report];
      const env = { ...process.env, TEST_DATABASE_URL: postgres.url('postgres'), TEST_GUARDS: JSON.stringify(guards) };
      const child = spawn('node_modules/.bin/vitest', args, { env, stdio: 'ignore' });
      run.afterwards(() => child.kill('SIGKILL'));
      await once(child, 'exit');

      const resources: Record<string, { tests: number; failed: number }> = {};
      let failed = 0;
      for (const { assertionResults } of (JSON.parse(readFileSync(file, 'utf8')) as Report).testResults)
        for (const { status, ancestorTitles, title } of assertionResults) {
          if (status === 'failed') failed += 1;
          const resource = resourceOf([...ancestorTitles, title].join(' '));
          if (resource === undefined) continue;
          const counts = (resources[resource] ??= { tests: 0, failed: 0 });
          counts.tests += 1;
          if (status === 'failed') counts.failed += 1;
        }
      return { resources, failed };
    }

    const mutated = await matrix('mutated', { scope: false });
    const scoped = Object.entries(mutated.resources).filter(([resource]) => !unscoped.includes(resource));
    const blind = scoped.filter(([, { failed }]) => failed === 0).map(([resource]) => resource);
    // The negative control: with the scope on, the same matrix fails nowhere.
    const whole = await matrix('whole', {});
    return {
      figures: [
        `without the scope ${mutated.failed} tests of the matrix fail, in ${scoped.length - blind.length} of ${scoped.length} resources`,
        `control: with it ${whole.failed}`,
      ].join(', '),
      faults: [
        ...blind.map((resource) => `nothing guards ${resource}`),
        ...(scoped.length >= 15 ? [] : [`the matrix names ${scoped.length} resources only`]),
        ...(whole.failed === 0 ? [] : [`with the scope ${whole.failed} tests of the matrix fail`]),
      ],
    };
  },
};
export default row;
