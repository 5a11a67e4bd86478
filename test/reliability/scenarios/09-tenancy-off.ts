import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../scenario.ts';
import { bundleWithoutTenancy } from '../../support/unscoped.ts';
import { temporaryFolder } from '../support/folder.ts';
import { loadOperations } from '../support/document.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstProvider, startServer } from '../support/server.ts';

type Report = { testResults: { assertionResults: { status: string; ancestorTitles: string[]; title: string }[] }[] };

/** Paths without tenant data, with the reason. */
const withoutTenant: Record<string, string> = {
  '/v2/durations': 'shared by all tenants',
  '/v2/schools': 'the row of the key itself',
  '/schools': 'the same row',
  '/v2/whoami': 'the same row and its key',
  '/v2/batch/booking': 'its statements name the school; test/api/database/tenant-statements.test.ts checks them',
  '/v2/changes': 'its statement names the school; test/api/changes tests events of other schools',
  '/courses': 'only creates a course and refers to no other row',
  '/v2/check-user-credentials': 'contains no id; test/api/auth/sign-on.test.ts tests foreign users',
};

const isPublic = (path: string) => !/^\/(v2|schools|courses)(\/|$)/.test(path);

const resourceOf = (path: string) =>
  path.startsWith('/v2/courses/{course_id}/') ? 'coursedates of a course' : path.replace(/\/\{.*$/, '');
/** Resource of a test title; titles may be truncated. */
function resourceIn(title: string) {
  const path = /'(?:GET|POST|PUT|DELETE) (\/[^' …]+)/.exec(title)?.[1];
  return path && resourceOf(path);
}

const scenario: Scenario = {
  name: 'tenancy off',
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off' });
    const folder = temporaryFolder(run);
    const server = await startServer(run, { DATABASE_URL: postgres.url('postgres'), ...firstProvider });

    /** Runs the isolation tests against this application; returns total and failed tests per resource. */
    async function runIsolationTests(name: string, app: Record<string, string>) {
      const file = join(folder, `${name}.json`);
      const report = ['--reporter=json', `--outputFile=${file}`];
      const args = ['run', '--config', 'test/vitest.config.ts', 'test/api/contract/isolation.test.ts', ...report];
      const env = { ...process.env, TEST_DATABASE_URL: postgres.url('postgres'), ...app };
      const child = spawn('node_modules/.bin/vitest', args, { env, stdio: 'ignore' });
      run.onCleanup(() => child.kill('SIGKILL'));
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

    const withoutTenancy = await runIsolationTests('mutated', { TEST_APP: await bundleWithoutTenancy('src/app.ts') });
    const paths = (await loadOperations(server.base)).map(({ path }) => path).filter((path) => !isPublic(path));
    const tenantResources = [...new Set(paths.map(resourceOf))].filter((resource) => !(resource in withoutTenant));
    const unguarded = tenantResources.filter((resource) => !withoutTenancy.resources[resource]?.failed);
    // Negative control: with tenancy on, no test fails.
    const withTenancy = await runIsolationTests('whole', {});
    return {
      figures: [
        `without tenancy ${withoutTenancy.failed} isolation tests fail, in ${tenantResources.length - unguarded.length} of ${tenantResources.length} resources`,
        `control: with tenancy ${withTenancy.failed}`,
      ].join(', '),
      failures: [
        ...unguarded.map((resource) => `no test guards ${resource}`),
        ...(withTenancy.failed === 0 ? [] : [`with tenancy ${withTenancy.failed} isolation tests fail`]),
      ],
    };
  },
};
export default scenario;
