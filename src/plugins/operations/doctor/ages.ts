import { clockWarning, summarizeClocksAhead } from '../../../database/clock.ts';
import { countMigrations } from '../../../database/migrate.ts';
import { findMigrationDifferences } from '../../../database/migration-differences.ts';
import { countUnencrypted, readWebhookStates, type WebhookState } from '../../delivery/webhooks/state.ts';
import { byLimit, error, formatAge, hours, minutes, ok, queryOne, skipped, warning } from '../../../interfaces/plugin/checks.ts';
import type { BackupState, Result, SystemCheck } from '../../../interfaces/plugin/checks.ts';

export const migrationCheck: SystemCheck = {
  check: 'migrations',
  async run({ pool }) {
    const { applied, expected } = await countMigrations(pool);
    const differences = await findMigrationDifferences(pool);
    return [judgeMigrationCount(applied, expected), ...differences.map((text) => error(`${text}: ${restoreAdvice}`))];
  },
};

const restoreAdvice = 'a backup is restored with `--accept-migrations` only, if at all';

function judgeMigrationCount(applied: number, expected: number) {
  if (applied < expected) return error(`${expected - applied} of ${expected} are pending: run \`migrate\``);
  if (applied > expected) return ok(`${applied - expected} more than this version knows`);
  return ok(`All ${expected} are applied`);
}

export const clockCheck: SystemCheck = {
  check: 'clock',
  async run({ pool }) {
    const sent = Date.now();
    const { at } = await queryOne<{ at: number }>(
      pool,
      'select extract(epoch from clock_timestamp())::float8 * 1000 as at',
    );
    const received = Date.now();
    const result = judgeClock(at - (sent + received) / 2, (received - sent) / 2);
    const stored = clockWarning(await summarizeClocksAhead(pool));
    return stored === undefined ? [result] : [result, warning(stored)];
  },
};

/** Both in milliseconds. */
export function judgeClock(ahead: number, uncertainty: number): Result {
  const seconds = Math.max(0, Math.abs(ahead) - uncertainty) / 1_000;
  const limits = { warning: 2, error: minutes };
  if (seconds < limits.warning) return ok("The database's clock agrees with that of this machine");
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  return byLimit(seconds, limits, `The database's clock is ${formatAge(seconds)} ${direction} that of this machine`);
}

export const backupCheck: SystemCheck = {
  check: 'backup',
  async run({ findLastBackup, config }) {
    if (findLastBackup) return judgeBackup(await findLastBackup());
    return [
      config.isBackupUndecided
        ? warning(backupUndecided)
        : skipped('This service makes no backups: check those of the database'),
    ];
  },
};

export const backupUndecided =
  'No backup is made: set BACKUP_AT to a time of day, to `elsewhere` where `backup --nightly` makes it, or to `off` where another program does';

export function judgeBackup({ ageSeconds: age, lastRestoreTest }: BackupState): Result[] {
  if (age === null) return [warning('There is no backup')];
  const limits = { warning: 26 * hours, error: 72 * hours };
  return [
    byLimit(age, limits, `The last backup is ${formatAge(age)} old`),
    ...(lastRestoreTest === 'failed'
      ? [error('The last restore of a backup for a test failed; the log has the reason')]
      : []),
    ...(lastRestoreTest === 'skipped'
      ? [warning('The last restore of a backup for a test was skipped; the log has the reason')]
      : []),
  ];
}

const waiting = { warning: 15 * minutes, error: 6 * hours };

export const mailCheck: SystemCheck = {
  check: 'mail',
  async run({ pool }) {
    const { oldest, failed } = await queryOne<{ oldest: number | null; failed: number }>(
      pool,
      `select (select extract(epoch from now() - min(o.created_at))::float8
          from outbox o join providers p on p.id = o.provider_id and p.closed_at is null
          where o.sent_at is null and o.failed_at is null) as oldest,
        (select count(*)::int from outbox where failed_at > now() - interval '7 days') as failed`,
    );
    return judgeMails(oldest, failed);
  },
};

export const judgeMails = (oldest: number | null, failed: number): Result[] => [
  oldest === null
    ? ok('No mail waits')
    : byLimit(oldest, waiting, `The oldest unsent mail is ${formatAge(oldest)} old`),
  ...(failed === 0 ? [] : [warning(`${failed} mails have failed in the last week: \`mail list --failed\``)]),
];

export const webhookCheck: SystemCheck = {
  check: 'webhooks',
  async run({ pool, config }) {
    if (config.WEBHOOKS === 'off') return [skipped('WEBHOOKS=off sends nothing')];
    const unencrypted = await countUnencrypted(pool);
    return [
      ...judgeWebhooks(await readWebhookStates(pool)),
      ...(unencrypted > 0 ? [warning(`${unencrypted} webhooks send personal data over plain http`)] : []),
    ];
  },
};

/** A webhook whose endpoint fails is not the operator's to repair, so it is never an error. */
export function judgeWebhooks(states: WebhookState[]): Result[] {
  const find = (state: WebhookState['state']) => states.find((one) => one.state === state);
  const late = find('working')?.oldestSeconds ?? null;
  const failing = find('failing');
  const old = (seconds: number) => `the oldest event that one has not got is ${formatAge(seconds)} old`;
  return [
    late === null
      ? ok('No event waits for a webhook whose endpoint answers')
      : byLimit(late, waiting, `Of the webhooks whose endpoints answer, ${old(late)}`),
    ...(failing ? [warning(`${failing.count} webhooks fail; ${old(failing.oldestSeconds ?? 0)}`)] : []),
  ];
}
