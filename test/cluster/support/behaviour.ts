import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Settings that the tests expect, and time limits for requests that wait for a busy machine. */
export const behaviourSettings = {
  ...{ PUBLIC_URL: 'http://localhost:3000', CATALOG_URL: 'https://catalog.example', TIMEZONE: 'Europe/Oslo' },
  ...{ INVALID_KEYS_PER_MINUTE: '1000000', STATEMENT_TIMEOUT_MS: '60000' },
  // The tests deliver webhooks themselves.
  ...{ WEBHOOKS: 'off', WEBHOOK_ALLOW: '127.0.0.0/8' },
  NODE_OPTIONS: `--import=${new URL('example-names.mjs', import.meta.url).href}`,
};

/** Tests that fail with servers in other processes by their nature. */
export const exceptions: Record<string, RegExp> = {
  'counts statements of its own process':
    /number of statements per page|costs one statement|share one key look-up|not load descriptions|total is counted once/,
  'the client of Node.js refuses the request': /^an invalid request id is replaced: "a\\[rn]/,
};

/** The servers may have sent the mails that this test reads from the outbox. */
const mayFail = /^a booking queues receipts for all participants/;

const folder = 'test/api';
/** The tests that share one database. */
export const behaviourTests = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && readFileSync(join(folder, file), 'utf8').includes('sharedTestApp'))
  .map((file) => join(folder, file));

type Test = { status: string; fullName: string; failureMessages: string[] };
type File = { name: string; status: string; message: string; assertionResults: Test[] };
type Report = { numPassedTests: number; testResults: File[] };

/** The tests of a file; the file itself if it failed before them. */
const testsOf = ({ name, status, message, assertionResults: tests }: File): Test[] =>
  tests.length > 0 ? tests : [{ status, fullName: name, failureMessages: [message] }];

const execute = promisify(execFile);

/** Runs test files; `output` is the name of the report. */
export async function runTests(files: string[], env: Record<string, string>, output: string) {
  rmSync(output, { force: true });
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  const report = ['--testTimeout=120000', '--reporter=json', `--outputFile=${output}`];
  const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 28 };
  const ended = await execute(process.execPath, [...vitest, ...report, ...files], options).catch(
    (error: unknown) => error,
  );
  // Failed tests are an exit code, too.
  if (!existsSync(output)) throw new Error('Vitest wrote no report', { cause: ended });
  const { numPassedTests, testResults } = JSON.parse(readFileSync(output, 'utf8')) as Report;
  return { passed: numPassedTests, failed: testResults.flatMap(testsOf).filter(({ status }) => status === 'failed') };
}

/** Failed tests that are no exception, and exceptions that did not fail. */
export function compareWithExceptions(failed: Test[], all: Record<string, RegExp>) {
  const patterns = Object.values(all);
  const isExpected = ({ fullName }: Test) => [mayFail, ...patterns].some((pattern) => pattern.test(fullName));
  return {
    unexpected: failed.filter((test) => !isExpected(test)),
    unnecessary: patterns.filter((pattern) => !failed.some(({ fullName }) => pattern.test(fullName))),
  };
}
