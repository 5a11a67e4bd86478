import {
  behaviourSettings,
  behaviourTests,
  compareWithExceptions,
  exceptions,
  runTests,
} from '../cluster/support/behaviour.ts';
import { failedChecks, type Outcome, type Run } from '../reliability/scenario.ts';
import { marker } from '../support/isolation.ts';
import { longTimeouts } from '../support/servers.ts';
import { query, startCitusServer, type Distributed } from './cluster.ts';

/** Race tests that book on servers, and whose own statements name one school. */
const races = ['seats', 'vouchers', 'campaigns', 'idempotency-keys', 'sync-order'].map(
  (name) => `test/slow/race/${name}.test.ts`,
);

/** Tests that an error of the database stops in their own process; the earlier build had 85 of these on Citus. */
const maxStopped = 100;
const isDatabaseError = (message: string) => /^error: |^Error: Failed query: /.test(message);

/** Runs the behaviour tests, the isolation tests among them, and race tests against two servers on the cluster. */
export async function runBehaviourTests(run: Run, { url }: Distributed): Promise<Outcome> {
  // The isolation tests create a person with the address of the compared school's, which is unique.
  await query(url, 'update admin_users set email = $1 where email = $2', ['a@compared.example', `${marker}@x.example`]);
  const start = async () => (await startCitusServer(run, url, { ...behaviourSettings, ...longTimeouts })).base;
  const bases = [await start(), await start()];
  const env = { TEST_DATABASE_URL: url, TEST_BASE_URL: bases.join(',') };
  const fast = await runTests(behaviourTests, env, 'test/output/citus-behaviour.json');
  // The controls need servers without locks, and so databases of their own.
  const raceArgs = ['--testNamePattern=^(?!.*negative control)', ...races];
  const race = await runTests(raceArgs, env, 'test/output/citus-races.json', 600_000);

  const failed = [...fast.failed, ...race.failed];
  const { unexpected, unnecessary } = compareWithExceptions(failed, exceptions);
  const stopped = unexpected.filter(({ failureMessages }) => failureMessages.every(isDatabaseError));
  const wrong = unexpected.filter((test) => !stopped.includes(test));
  for (const { fullName, failureMessages } of stopped)
    console.log(`  stopped: ${fullName}: ${failureMessages[0]!.split('\n')[0]}`);
  return {
    figures:
      `${fast.passed} tests of ${behaviourTests.length} files and ${race.passed} race tests passed, ` +
      `${failed.length - unexpected.length} cannot, ${stopped.length} stopped at a statement in their own process`,
    failures: [
      ...wrong.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.slice(0, 300)}`),
      ...failedChecks({
        'the tests ran': fast.passed > 2_000 && race.passed >= races.length,
        [`at most ${maxStopped} tests are stopped by an error of the database`]: stopped.length <= maxStopped,
        [`no exception is unnecessary (${unnecessary.join(', ')})`]: unnecessary.length === 0,
      }),
    ],
  };
}
