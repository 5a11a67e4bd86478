import { localTables } from '../../src/database/distribution.ts';
import type { Outcome, Run } from '../reliability/scenario.ts';
import { cli } from '../reliability/support/cli.ts';
import { temporaryFolder } from '../reliability/support/folder.ts';
import { startPostgres } from '../reliability/support/postgres.ts';
import { settings } from '../reliability/support/school.ts';
import { createComparedSchool } from '../reliability/support/version-comparison.ts';
import { createSchools, type CitusCluster, type Distributed } from './cluster.ts';

/**
 * Fills a PostgreSQL server, restores a backup of it into the empty database of the cluster, and distributes that. `keep`
 * gets what the other parts need.
 */
export async function distribute(
  run: Run,
  cluster: CitusCluster,
  keep: (distributed: Distributed) => void,
): Promise<Outcome> {
  const plain = await startPostgres(run, { fsync: 'off' });
  await plain.create('plain');
  const folder = temporaryFolder(run);
  const environment = (url: string) => ({ DATABASE_URL: url, TIMEZONE: settings.timezone, DATA_DIR: folder });
  const plainUrl = plain.url('plain');
  const onPlain = environment(plainUrl);
  await cli(['migrate'], onPlain);
  const { api_key: demoKey } = await cli<{ api_key: string }>(['demo', '--json'], onPlain);
  const owner = await createComparedSchool(plainUrl);
  const schools = await createSchools(run, plainUrl);
  const { file, rows } = await cli<{ file: string; rows: number }>(['backup', '--to', folder, '--json'], onPlain);

  const onCitus = environment(cluster.url);
  // Without the password of the URL in an argument.
  const database = decodeURIComponent(new URL(cluster.url).pathname.slice(1));
  await cli(['restore', file, '--database', database], onCitus);
  const { distributed, copied } = await cli<Tables>(['distribute', '--json'], onCitus);
  await cli(['doctor', '--only', 'data'], onCitus);
  keep({ ...cluster, plainUrl, demoKey, owner, schools });
  return {
    figures: `${rows} rows, ${distributed.length} tables distributed, ${copied.length} copied to all servers, ${localTables.length} left; doctor finds no difference`,
    failures: [],
  };
}

type Tables = { distributed: string[]; copied: string[] };
