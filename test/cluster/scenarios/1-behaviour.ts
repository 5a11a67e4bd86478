import { failedChecks, type Scenario } from '../../reliability/scenario.ts';
import { cli } from '../../reliability/support/school.ts';
import {
  behaviourSettings,
  behaviourTests,
  compareWithExceptions,
  exceptions,
  runTests,
} from '../support/behaviour.ts';
import { startCluster, startServers } from '../support/cluster.ts';

const exceptionsOfCluster = {
  ...exceptions,
  'HAProxy refuses the request': /^a too long (header|request) gets|^malformed HTTP gets a JSON error/,
};

const scenario: Scenario = {
  name: 'behaviour tests through the cluster',
  quick: true,
  async run(run) {
    const cluster = await startCluster(run);
    await cli({ DATABASE_URL: cluster.directUrl }, 'migrate');
    const { base } = await startServers(run, cluster, behaviourSettings);
    const url = new URL(cluster.adminUrl);
    url.pathname = '/booking';
    const database = { TEST_DATABASE_URL: url.href };
    const servers = { ...database, TEST_BASE_URL: base };
    const { passed, failed } = await runTests(behaviourTests, servers, 'test/output/cluster-behaviour.json');
    const { unexpected, unnecessary } = compareWithExceptions(failed, exceptionsOfCluster);

    // Negative control: without the servers the tests fail, so they do send their requests to them.
    const nowhere = { ...database, TEST_BASE_URL: 'http://127.0.0.1:1' };
    const control = await runTests(['test/api/courses/delete.test.ts'], nowhere, 'test/output/cluster-control.json');
    return {
      figures: `${passed} tests of ${behaviourTests.length} files passed, ${failed.length - unexpected.length} cannot; control: ${control.passed} pass without servers`,
      failures: [
        ...unexpected.map(({ fullName }) => fullName),
        ...failedChecks({
          'the tests ran': passed > 2_000,
          [`no exception is unnecessary (${unnecessary.join(', ')})`]: unnecessary.length === 0,
          'control: a test without servers fails': control.passed === 0,
        }),
      ],
    };
  },
};
export default scenario;
