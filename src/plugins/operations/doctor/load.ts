import { backupApplication } from '../../../database/client.ts';
import * as checks from '../../../interfaces/plugin/checks.ts';

type Connections = {
  usable: number;
  used: number;
  ofService: number;
  ofRole: number;
  roleLimit: number;
  ofDatabase: number;
  databaseLimit: number;
};

export const connectionCheck: checks.SystemCheck = {
  check: 'connections',
  async run({ pool, config }) {
    const connections = await checks.queryOne<Connections>(
      pool,
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true), '0')::int as usable,
        count(*)::int as used, (count(*) filter (where application_name like 'course-booking-service%'))::int as "ofService",
        (count(*) filter (where usename = current_user))::int as "ofRole",
        (select rolconnlimit from pg_roles where rolname = current_user) as "roleLimit",
        (count(*) filter (where datname = current_database()))::int as "ofDatabase",
        (select datconnlimit from pg_database where datname = current_database()) as "databaseLimit"
      from pg_stat_activity where datid is not null`,
    );
    return assessConnections(connections, config.POOL_SIZE);
  },
};

export function assessConnections(counts: Connections, poolSize: number): checks.Result[] {
  // -1 is no limit.
  const limits = [
    { used: counts.used, limit: counts.usable, name: '' },
    { used: counts.ofRole, limit: counts.roleLimit, name: ' of the role' },
    { used: counts.ofDatabase, limit: counts.databaseLimit, name: ' of the database' },
  ].filter(({ limit }) => limit >= 0);
  const { used, limit, name } = limits.sort((a, b) => b.used / b.limit - a.used / a.limit)[0]!;
  if (limit <= poolSize)
    return [
      checks.error(
        `POOL_SIZE is ${poolSize}, and a process needs one more, but only ${limit} connections${name} exist`,
      ),
    ];
  const message = `${used} of ${limit} connections${name} are in use, ${counts.ofService} by this service`;
  return [checks.byLimit(used / limit, { warning: 0.8, error: 0.95 }, message)];
}

type TableState = { name: string; live: number; dead: number; bytes: number; expectedBytes: number | null };

const minDeadRows = 10_000;
const minBloatBytes = 100 * 1_048_576;

export const tableCheck: checks.SystemCheck = {
  check: 'tables',
  async run({ pool }) {
    // Expected: rows by their average width, with the headers of row and page entry, and the room left by the fill factor.
    const { rows } = await pool.query<TableState>(`
      select s.relname as name, s.n_live_tup::float8 as live, s.n_dead_tup::float8 as dead,
        pg_relation_size(s.relid)::float8 as bytes,
        case when c.reltuples > 0 then c.reltuples * (w.width + 28) * 100 / coalesce((select option_value::int
          from pg_options_to_table(c.reloptions) where option_name = 'fillfactor'), 100) end::float8 as "expectedBytes"
      from pg_stat_user_tables s join pg_class c on c.oid = s.relid
        left join (select tablename, sum((1 - null_frac) * avg_width) as width from pg_stats where schemaname = 'public'
          group by tablename) w on w.tablename = s.relname
      where s.schemaname = 'public'`);
    return assessTables(rows);
  },
};

export function assessTables(tables: TableState[]): checks.Result[] {
  const dead = tables.filter(({ live, dead }) => dead >= minDeadRows && dead > live / 2);
  const bloated = tables.filter(
    ({ bytes, expectedBytes }) => bytes >= minBloatBytes && expectedBytes !== null && bytes > 3 * expectedBytes,
  );
  const faults = [
    ...dead.map(({ name, live, dead }) =>
      checks.warning(
        `${name} has ${dead} dead rows beside ${live}: autovacuum cannot keep up, or a transaction blocks it`,
      ),
    ),
    ...bloated.map(({ name, bytes, expectedBytes }) =>
      checks.warning(
        `${name} takes ${toMegabytes(bytes)} MB for some ${toMegabytes(expectedBytes!)} MB of rows: \`vacuum full\` helps, and locks the table meanwhile`,
      ),
    ),
  ];
  if (faults.length > 0) return faults;
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  return [checks.ok(`${tables.length} tables with ${toMegabytes(total)} MB, without many dead rows`)];
}

const toMegabytes = (bytes: number) => Math.ceil(bytes / 1_048_576);

type Transactions = { seconds: number; prepared: number; hidden: number; frozenAge: number };

export const transactionCheck: checks.SystemCheck = {
  check: 'transactions',
  async run({ pool }) {
    const transactions = await checks.queryOne<Transactions>(
      pool,
      `select coalesce(max(extract(epoch from clock_timestamp() - xact_start))
            filter (where backend_type = 'client backend'), 0)::float8 as seconds,
          (count(*) filter (where backend_type is null))::int as hidden,
          (select coalesce(max(extract(epoch from clock_timestamp() - prepared)), 0)::float8
            from pg_prepared_xacts where database = current_database()) as prepared,
          (select age(datfrozenxid)::float8 from pg_database where datname = current_database()) as "frozenAge"
        from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
          and application_name is distinct from '${backupApplication}'`,
    );
    return assessTransactions(transactions);
  },
};

export function assessTransactions({ seconds, prepared, hidden, frozenAge }: Transactions): checks.Result[] {
  const oldest = Math.max(seconds, prepared);
  const limits = { warning: 10 * checks.minutes, error: 24 * checks.hours };
  const wraparound = { warning: 500_000_000, error: 1_500_000_000 };
  const kind = prepared > seconds ? 'prepared transaction' : 'transaction';
  const age = oldest < 1 ? 'No transaction is open for long' : `The oldest ${kind} is ${checks.formatAge(oldest)} old`;
  return checks.found([
    checks.byLimit(oldest, limits, age),
    frozenAge >= wraparound.warning &&
      checks.byLimit(frozenAge, wraparound, `${frozenAge} transactions since the last freeze: run \`vacuum freeze\``),
    hidden > 0 &&
      checks.skipped(`${hidden} sessions of other roles cannot be seen: \`grant pg_read_all_stats\` to this role`),
  ]);
}
