import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { failedChecks, type Scenario } from '../../reliability/scenario.ts';
import { cli } from '../../reliability/support/school.ts';
import { startCluster, startServers } from '../support/cluster.ts';

/** Settings that the tests expect, and time limits for requests that wait for a busy machine. */
const settings = {
  ...{ PUBLIC_URL: 'http://localhost:3000', CATALOG_URL: 'https://catalog.example', TIMEZONE: 'Europe/Oslo' },
  ...{ INVALID_KEYS_PER_MINUTE: '1000000', POOL_ACQUIRE_TIMEOUT_MS: '20000', WRITE_LOCK_TIMEOUT_MS: '20000' },
  ...{ STATEMENT_TIMEOUT_MS: '20000' },
  // The tests deliver webhooks themselves.
  ...{ WEBHOOKS: 'off', WEBHOOK_ALLOW: '127.0.0.0/8' },
  NODE_OPTIONS: `--import=${new URL('../support/example-names.mjs', import.meta.url).href}`,
};

/** Tests that fail through a cluster by their nature. */
const exceptions: Record<string, RegExp> = {
  'counts statements of its own process':
    /number of statements per page|costs one statement|share one key look-up|not load descriptions|total is counted once/,
  'HAProxy refuses the request': /^a too long (header|request) gets|^malformed HTTP gets a JSON error/,
  'the client of Node.js refuses the request': /^an invalid request id is replaced: "a\\[rn]/,
};

/** The servers may have sent the mails that this test reads from the outbox. */
const mayFail = /^a booking queues receipts for all participants/;

const folder = 'test/api';
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && readFileSync(join(folder, file), 'utf8').includes('sharedTestApp'))
  .map((file) => join(folder, file));

type Report = { numPassedTests: number; testResults: { assertionResults: { status: string; fullName: string }[] }[] };

/** Runs test files against the servers at an address. */
function runTests(paths: string[], env: Record<string, string>, output: string) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', 'fast'];
  const report = ['--testTimeout=120000', '--reporter=json', `--outputFile=${output}`];
  return new Promise<Report>((resolve) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 28 };
    execFile(process.execPath, [...vitest, ...report, ...paths], options, () =>
      resolve(JSON.parse(readFileSync(output, 'utf8')) as Report),
    );
  });
}

const scenario: Scenario = {
  name: 'behaviour tests through the cluster',
  quick: true,
  async run(run) {
    const cluster = await startCluster(run);
    await cli({ DATABASE_URL: cluster.directUrl }, 'migrate');
    const { base } = await startServers(run, cluster, settings);
    const url = new URL(cluster.adminUrl);
    url.pathname = '/booking';
    const database = { TEST_DATABASE_URL: url.href };
    const report = await runTests(files, { ...database, TEST_BASE_URL: base }, 'test/output/cluster-behaviour.json');
    const failed = report.testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => fullName);
    const patterns = Object.values(exceptions);
    const unexpected = failed.filter((name) => ![mayFail, ...patterns].some((pattern) => pattern.test(name)));
    const unnecessary = patterns.filter((pattern) => !failed.some((name) => pattern.test(name)));

    // Negative control: without the servers the tests fail, so they do send their requests to them.
    const nowhere = { ...database, TEST_BASE_URL: 'http://127.0.0.1:1' };
    const control = await runTests(['test/api/courses/delete.test.ts'], nowhere, 'test/output/cluster-control.json');
    return {
      figures: `${report.numPassedTests} tests of ${files.length} files passed, ${failed.length - unexpected.length} cannot; control: ${control.numPassedTests} pass without servers`,
      failures: [
        ...unexpected,
        ...failedChecks({
          'the tests ran': report.numPassedTests > 2_000,
          [`no exception is unnecessary (${unnecessary.join(', ')})`]: unnecessary.length === 0,
          'control: a test without servers fails': control.numPassedTests === 0,
        }),
      ],
    };
  },
};
export default scenario;
