import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../row.ts';
import { bundleWithoutTenancy } from '../../support/unscoped.ts';
import { temporaryFolder } from '../support/folder.ts';
import { operationsOf } from '../support/document.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstProvider, startServer } from '../support/server.ts';

type Report = { testResults: { assertionResults: { status: string; ancestorTitles: string[]; title: string }[] }[] };

/** Paths without tenant data, with the reason. */
const unscoped: Record<string, string> = {
  '/v2/durations': 'the same for all',
  '/v2/schools': 'the row that the key belongs to',
  '/schools': 'the same row',
  '/courses': 'only makes a course, and names no other row',
  '/v2/check-user-credentials':
    'names nobody by id; test/api/auth/sign-on.test.ts shows that the users of others are unknown',
};

const isPublic = (path: string) => !/^\/(v2|schools|courses)(\/|$)/.test(path);

const resourceOf = (path: string) =>
  path.startsWith('/v2/courses/{course_id}/') ? 'coursedates of a course' : path.replace(/\/\{.*$/, '');
/** Resource of a test title; titles may be truncated. */
function resourceIn(title: string) {
  const path = /'(?:GET|POST|PUT|DELETE) (\/[^' …]+)/.exec(title)?.[1];
  return path && resourceOf(path);
}

const row: Row = {
  name: 'scope switched off',
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off' });
    const folder = temporaryFolder(run);
    const server = await startServer(run, { DATABASE_URL: postgres.url('postgres'), ...firstProvider });

    /** Runs the isolation tests against this application; returns total and failed tests per resource. */
    async function matrix(name: string, app: Record<string, string>) {
      const file = join(folder, `${name}.json`);
      const report = ['--reporter=json', `--outputFile=${file}`];
      const args = ['run', '--config', 'test/vitest.config.ts', 'test/api/contract/isolation.test.ts', ...report];
      const env = { ...process.env, TEST_DATABASE_URL: postgres.url('postgres'), ...app };
      const child = spawn('node_modules/.bin/vitest', args, { env, stdio: 'ignore' });
      run.afterwards(() => child.kill('SIGKILL'));
      await once(child, 'exit');

      const resources: Record<string, { tests: number; failed: number }> = {};
      let failed = 0;
      for (const { assertionResults } of (JSON.parse(readFileSync(file, 'utf8')) as Report).testResults)
        for (const { status, ancestorTitles, title } of assertionResults) {
          if (status === 'failed') failed += 1;
          const resource = resourceIn([...ancestorTitles, title].join(' '));
          if (resource === undefined) continue;
          const counts = (resources[resource] ??= { tests: 0, failed: 0 });
          counts.tests += 1;
          if (status === 'failed') counts.failed += 1;
        }
      return { resources, failed };
    }

    const mutated = await matrix('mutated', { TEST_APP: await bundleWithoutTenancy('src/app.ts') });
    const paths = (await operationsOf(server.base)).map(({ path }) => path).filter((path) => !isPublic(path));
    const scoped = [...new Set(paths.map(resourceOf))].filter((resource) => !(resource in unscoped));
    const blind = scoped.filter((resource) => !mutated.resources[resource]?.failed);
    // Negative control: with tenancy on, no test fails.
    const whole = await matrix('whole', {});
    return {
      figures: [
        `without the scope ${mutated.failed} tests of the matrix fail, in ${scoped.length - blind.length} of ${scoped.length} resources`,
        `control: with it ${whole.failed}`,
      ].join(', '),
      faults: [
        ...blind.map((resource) => `nothing guards ${resource}`),
        ...(whole.failed === 0 ? [] : [`with the scope ${whole.failed} tests of the matrix fail`]),
      ],
    };
  },
};
export default row;
