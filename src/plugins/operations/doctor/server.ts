import { collation } from '../../../database/tables/columns.ts';
import * as checks from '../../../interfaces/plugin/checks.ts';

/** The major versions that this release was tested with. */
const [oldest, newest] = [15, 18] as const;

export function assessVersion(major: number, version: string): checks.Result {
  const name = `PostgreSQL ${version}`;
  if (major < oldest) return checks.error(`${name} is too old: PostgreSQL ${oldest} or newer is required`);
  if (major > newest) return checks.warning(`${name} is newer than the versions that this release was tested with`);
  return checks.ok(name);
}

export const versionCheck: checks.SystemCheck = {
  check: 'server version',
  async run({ pool }) {
    const { number, version } = await checks.queryOne<{ number: number; version: string }>(
      pool,
      `select current_setting('server_version_num')::int as number, split_part(current_setting('server_version'), ' ', 1) as version`,
    );
    return [assessVersion(Math.floor(number / 10_000), version)];
  },
};

const names = ['synchronous_commit', 'fsync', 'full_page_writes', 'autovacuum'] as const;
type Settings = Record<(typeof names)[number], string>;

export const settingsCheck: checks.SystemCheck = {
  check: 'server settings',
  async run({ pool, config: { DATABASE_URL } }) {
    const columns = names.map((name) => `current_setting('${name}') as ${name}`);
    const settings = await checks.queryOne<Settings>(pool, `select ${columns.join(', ')}`);
    return assessSettings(settings, DATABASE_URL !== undefined && !checks.isNear(DATABASE_URL));
  },
};

/** A remote server may have storage that needs no `fsync`, as those of some cloud providers. */
export function assessSettings(settings: Settings, isRemote = false): checks.Result[] {
  const { synchronous_commit, fsync, full_page_writes, autovacuum } = settings;
  const faults = checks.found([
    synchronous_commit === 'off' &&
      checks.error('synchronous_commit is off: a crash of the database loses bookings that were confirmed'),
    fsync === 'off' &&
      (isRemote ? checks.warning : checks.error)('fsync is off: a power failure may destroy the database'),
    full_page_writes === 'off' &&
      checks.warning('full_page_writes is off: a power failure may destroy pages, unless the file system prevents it'),
    autovacuum === 'off' && checks.error('autovacuum is off: tables grow without end'),
  ]);
  return faults.length > 0
    ? faults
    : [checks.ok(`synchronous_commit is ${synchronous_commit}, fsync and autovacuum are on`)];
}

export const encodingCheck: checks.SystemCheck = {
  check: 'encoding',
  async run({ pool }) {
    const { encoding } = await checks.queryOne<{ encoding: string }>(
      pool,
      `select current_setting('server_encoding') as encoding`,
    );
    return [encoding === 'UTF8' ? checks.ok(encoding) : checks.error(`The encoding is ${encoding}; UTF8 is required`)];
  },
};

type Collation = { name: string; stored: string | null; actual: string | null };

export const collationCheck: checks.SystemCheck = {
  check: 'collation',
  async run({ pool }) {
    const { rows } = await pool.query<Collation>(`
      select 'database' as name, datcollversion as stored, pg_database_collation_actual_version(oid) as actual
        from pg_database where datname = current_database()
      union all
      select collname, collversion, pg_collation_actual_version(oid)
        from pg_collation where collname = '${collation}' and collnamespace = 'pg_catalog'::regnamespace`);
    return assessCollations(rows);
  },
};

export function assessCollations(collations: Collation[]): checks.Result[] {
  const icu = collations.find(({ name }) => name === collation);
  if (!icu) return [checks.error(`The collation ${collation} is missing: PostgreSQL must be built with ICU`)];
  const changed = collations.filter(({ stored, actual }) => stored !== null && stored !== actual);
  if (changed.length === 0) return [checks.ok(`${collation} has the version ${icu.actual}, with which it was indexed`)];
  return changed.map(({ name, stored, actual }) => {
    const [whose, refresh] =
      name === 'database'
        ? ['the database', 'alter database … refresh collation version']
        : [name, `alter collation pg_catalog."${name}" refresh version`];
    return checks.warning(
      `The collation of ${whose} was ${stored} and is ${actual}: run \`reindex database\`, then \`${refresh}\``,
    );
  });
}

/** Compares the local time of coming months with that of Node.js, whose time zone data is its own. */
export const timeZoneCheck: checks.SystemCheck = {
  check: 'time zone data',
  async run({ pool, config: { TIMEZONE: zone } }) {
    const { rows } = await pool.query<{ utc: string; local: string }>(
      `select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') as utc, to_char(at at time zone $1, 'YYYY-MM-DD HH24:MI') as local
        from generate_series(date_trunc('month', now(), 'UTC'), now() + interval '3 years', interval '1 month') at`,
      [zone],
    );
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
    const different = rows.find(({ utc, local }) => format.format(new Date(utc)) !== local);
    if (!different) return [checks.ok(`${zone} is the same in PostgreSQL and Node.js for three years`)];
    return [
      checks.warning(`${zone} differs between PostgreSQL and Node.js at ${different.utc}: update the older tzdata`),
    ];
  },
};
