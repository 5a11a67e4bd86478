import { Client } from 'pg';
import { connectionTo } from './test-app.ts';

/**
 * Replaces the clock of a database without connections by one that stands still at `time`. The stored clock of shared
 * data, which the migration has set, would not go back by itself.
 */
export async function fixClock(name: string, time: string) {
  const returnTime = `returns timestamptz language sql stable as $$ select timestamptz '${time}' $$`;
  const client = new Client(connectionTo(name));
  await client.connect();
  try {
    await client.query(`
      create schema clock;
      create function clock.now() ${returnTime};
      create function clock.clock_timestamp() ${returnTime};
      update service_state set changed_at = '${time}';
      alter database ${name} set search_path = clock, pg_catalog, public`);
  } finally {
    await client.end();
  }
}
