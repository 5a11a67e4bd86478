import { clockWarning, summarizeClocksAhead } from '../../../database/clock.ts';
import {
  compareMigrations,
  describeMigrationDifferences,
  isOfOtherHistory,
} from '../../../database/migration-differences.ts';
import { readAppliedMigrations, readMigrations } from '../../../database/migration-history.ts';
import { byLimit, error, formatAge, minutes, ok, queryOne, warning } from '../../../interfaces/plugin/checks.ts';
import type { Result, SystemCheck } from '../../../interfaces/plugin/checks.ts';

export const migrationCheck: SystemCheck = {
  check: 'migrations',
  async run({ pool }) {
    const applied = await readAppliedMigrations(pool);
    const differences = compareMigrations(applied);
    const isRefused = differences.isMissing === true || isOfOtherHistory(differences);
    const advice = isRefused
      ? 'this version neither migrates it nor restores a backup of it'
      : 'a backup is restored with `--accept-migrations` only, if at all';
    const problems = describeMigrationDifferences(differences).map((text) => error(`${text}: ${advice}`));
    return isRefused ? problems : [judgeMigrationCount(applied.length, readMigrations().length), ...problems];
  },
};

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

export const standbyCheck: SystemCheck = {
  check: 'standby',
  async run({ standby }) {
    if (!standby) return [];
    const { fault, lag } = await standby.examine();
    if (fault)
      return [warning(`Lists are read from the primary, since the standby is not used: ${fault.text}; ${fault.hint}`)];
    const text = lag ? `is ${lag.seconds.toFixed(1)} seconds behind` : 'answers';
    return [ok(`The standby ${text}`)];
  },
};
