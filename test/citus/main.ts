import { Client } from 'pg';
import { findObstacles, notAvailable } from '../../src/database/distribution.ts';
import { settings } from '../reliability/support/school.ts';
import { runParts } from './parts.ts';

/*
 * The acceptance test of a Citus cluster. CITUS_DATABASE_URL names an empty database of the coordinator, made as
 * docs/citus.md says. Skipped, with exit code 0, without it or without Citus; a missing setting is a failure.
 */

const { CITUS_DATABASE_URL: url, CITUS_STOP_WORKER: stopWorker, CITUS_START_WORKER: startWorker } = process.env;

async function readObstacles(connectionString: string) {
  const client = new Client({ connectionString });
  await client.connect();
  return findObstacles(client, settings.timezone).finally(() => client.end());
}

const obstacles = url === undefined ? ['CITUS_DATABASE_URL is not set'] : await readObstacles(url);
const isMissing = url === undefined || obstacles.includes(notAvailable);
if (isMissing) {
  console.log(`skipped, nothing was tested: ${obstacles.join('; ')}`);
} else if (obstacles.length > 0) {
  console.error(`nothing was tested: ${obstacles.join('; ')}`);
  process.exit(1);
} else {
  process.exit((await runParts({ url, stopWorker, startWorker })) ? 0 : 1);
}
