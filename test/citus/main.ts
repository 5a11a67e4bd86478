import { Client } from 'pg';
import { findObstacles } from '../../src/database/distribution.ts';
import { settings } from '../reliability/support/school.ts';
import { runParts } from './parts.ts';

/*
 * The acceptance test of a Citus cluster. CITUS_DATABASE_URL names an empty database of the coordinator, made as
 * docs/citus.md says. Skipped, with exit code 0, without it or without Citus.
 */

const { CITUS_DATABASE_URL: url, CITUS_STOP_WORKER: stopWorker, CITUS_START_WORKER: startWorker } = process.env;

async function readObstacles(connectionString: string) {
  const client = new Client({ connectionString });
  await client.connect();
  return findObstacles(client, settings.timezone).finally(() => client.end());
}

const obstacles = url === undefined ? ['CITUS_DATABASE_URL is not set'] : await readObstacles(url);
if (url === undefined || obstacles.length > 0) {
  console.log(`skipped, nothing was tested: ${obstacles.join('; ')}`);
} else {
  process.exit((await runParts({ url, stopWorker, startWorker })) ? 0 : 1);
}
