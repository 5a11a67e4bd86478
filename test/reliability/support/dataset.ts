import { openDatabase } from '../../../src/database/client.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { buildDataset } from '../../bench/dataset.ts';

/** Migrates a database and fills it with the data of the benchmark; returns the key of its school. */
export async function fillDatabase(url: string, scale: number, providers: number) {
  const connection = { connectionString: url };
  await migrateDatabase(connection);
  const times = { acquireMs: 10_000, statementMs: 3_600_000, writeMs: 10_000 };
  const database = openDatabase({ connection, timezone: 'Europe/Oslo', poolSize: 1, ...times });
  const { apiKey } = await buildDataset(database, scale, providers);
  await database.close();
  return apiKey;
}
