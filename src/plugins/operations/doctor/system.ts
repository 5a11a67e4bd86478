import { getErrorCode, getRootCause } from '../../../core/database-errors.ts';
import type { Watched } from '../../../interfaces/plugin/define-plugin.ts';
import * as checks from '../../../interfaces/plugin/checks.ts';
import { createDiskCheck } from './disks.ts';
import { connectionCheck, tableCheck, transactionCheck } from './load.ts';
import { createPromiseCheck } from './promises.ts';
import { collationCheck, encodingCheck, settingsCheck, timeZoneCheck, versionCheck } from './server.ts';
import { clockWarning, summarizeClocksAhead } from '../../../database/clock.ts';
import {
  compareMigrations,
  describeMigrationDifferences,
  isOfOtherHistory,
  readAppliedMigrations,
  readMigrations,
} from '../../../database/migration-history.ts';

type Role = { name: string; isSuperuser: boolean; mayCreate: boolean };
type Rights = { name: string; isOwned: boolean; missing: string[] };

const roleCheck: checks.SystemCheck = {
  check: 'role',
  async run({ pool, config }) {
    const role = await checks.queryOne<Role>(
      pool,
      `select rolname as name, rolsuper as "isSuperuser",
          has_schema_privilege('public', 'CREATE') and has_schema_privilege('drizzle', 'CREATE') as "mayCreate"
        from pg_roles where rolname = current_user`,
    );
    // Tables of others in the schema have other owners.
    const { rows } = await pool.query<Rights>(`
      select c.relname as name, pg_has_role(c.relowner, 'USAGE') as "isOwned",
        array(select privilege from unnest(case c.relkind when 'S' then array['USAGE']
            else array['SELECT', 'INSERT', 'UPDATE', 'DELETE'] end) privilege
          where not case c.relkind when 'S' then has_sequence_privilege(c.oid, privilege)
            else has_table_privilege(c.oid, privilege) end) as missing
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'S')
        and c.relowner = (select relowner from pg_class where oid = 'public.providers'::regclass)
      order by c.relname`);
    return assessRole(role, rows, {
      isEmbedded: config.DATABASE_URL === undefined,
      mustMigrate: config.MIGRATE_ON_START,
    });
  },
};

export function assessRole(
  { name, isSuperuser, mayCreate }: Role,
  rights: Rights[],
  { isEmbedded, mustMigrate }: { isEmbedded: boolean; mustMigrate: boolean },
): checks.Result[] {
  const missing = rights.flatMap(({ name: object, missing: names }) =>
    names.length > 0 ? [`${names.join(', ').toLowerCase()} on ${object}`] : [],
  );
  if (missing.length > 0) return [checks.error(`The role ${name} lacks ${summarize(missing)}`)];
  // The embedded database has no other role.
  if (isSuperuser)
    return isEmbedded
      ? [checks.ok(`${name}, of the embedded database`)]
      : [checks.warning(`The role ${name} is a superuser: one that owns the database is enough`)];
  const mayMigrate = mayCreate && rights.every(({ isOwned }) => isOwned);
  if (mustMigrate && !mayMigrate)
    return [
      checks.warning(
        `The role ${name} may not change tables: set MIGRATE_ON_START=false, and run \`migrate\` with the owner's role`,
      ),
    ];
  return [checks.ok(`${name} has the rights that it needs, and is no superuser`)];
}

const summarize = (items: string[]) =>
  items.length <= 3 ? items.join('; ') : `${items.slice(0, 3).join('; ')}; and ${items.length - 3} more`;

export const migrationCheck: checks.SystemCheck = {
  check: 'migrations',
  async run({ pool }) {
    const applied = await readAppliedMigrations(pool);
    const differences = compareMigrations(applied);
    const isRefused = differences.isMissing === true || isOfOtherHistory(differences);
    const advice = isRefused
      ? 'this version neither migrates it nor restores a backup of it'
      : 'a backup is restored with `--accept-migrations` only, if at all';
    const problems = describeMigrationDifferences(differences).map((text) => checks.error(`${text}: ${advice}`));
    return isRefused ? problems : [assessMigrationCount(applied.length, readMigrations().length), ...problems];
  },
};

function assessMigrationCount(applied: number, expected: number) {
  if (applied < expected) return checks.error(`${expected - applied} of ${expected} are pending: run \`migrate\``);
  if (applied > expected) return checks.ok(`${applied - expected} more than this version knows`);
  return checks.ok(`All ${expected} are applied`);
}

const clockCheck: checks.SystemCheck = {
  check: 'clock',
  async run({ pool }) {
    const sent = Date.now();
    const { at } = await checks.queryOne<{ at: number }>(
      pool,
      'select extract(epoch from clock_timestamp())::float8 * 1000 as at',
    );
    const received = Date.now();
    const result = assessClock(at - (sent + received) / 2, (received - sent) / 2);
    const stored = clockWarning(await summarizeClocksAhead(pool));
    return stored === undefined ? [result] : [result, checks.warning(stored)];
  },
};

/** Both in milliseconds. */
export function assessClock(ahead: number, uncertainty: number): checks.Result {
  const seconds = Math.max(0, Math.abs(ahead) - uncertainty) / 1_000;
  const limits = { warning: 2, error: checks.minutes };
  if (seconds < limits.warning) return checks.ok("The database's clock agrees with that of this machine");
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  return checks.byLimit(
    seconds,
    limits,
    `The database's clock is ${checks.formatAge(seconds)} ${direction} that of this machine`,
  );
}

/** All checks, those of plugins included; docs/operate/operating.md lists them too. */
export const listChecks = ({ checks: added, conditions, folders }: Watched): checks.SystemCheck[] => [
  ...[versionCheck, settingsCheck, encodingCheck, collationCheck, timeZoneCheck, clockCheck],
  ...[migrationCheck, roleCheck, connectionCheck, tableCheck, transactionCheck, createDiskCheck(folders)],
  ...[...added, createPromiseCheck(conditions)],
];

/** Examines the database server and the configuration. A check that fails is a finding of its own. */
export async function checkSystem(context: checks.CheckContext, all: checks.SystemCheck[]): Promise<checks.Finding[]> {
  const findings: checks.Finding[] = [];
  for (const { check, run } of all) {
    const results = await Promise.resolve()
      .then(() => run(context))
      .catch((failure: unknown) => [describeFailure(failure)]);
    findings.push(...results.map((result) => ({ check, ...result })));
  }
  return findings;
}

function describeFailure(failure: unknown): checks.Result {
  const code = getErrorCode(failure);
  if (code === '42501') return checks.skipped('This role may not look: it lacks a right');
  // The table, its schema or a function is missing.
  if (['42P01', '3F000', '42883'].includes(code)) return checks.skipped('The database does not have what this needs');
  const { message } = getRootCause(failure) as Error;
  return checks.error(`The check failed: ${code === '' ? message : `SQLSTATE ${code}`}`);
}
