import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';

const missing = succeeds('command -v promtool') ? '' : ': promtool is not installed';
const day = 24 * 60;

/** Series by the minute, in the notation of promtool. */
type Series = Record<string, string>;
const server = { 'up{job="booking",instance="one"}': `1+0x${2 * day}` };
const disk = (free: number) => ({
  'booking_disk_free_bytes{instance="one",place="data folder"}': `${free}+0x30`,
  'booking_disk_size_bytes{instance="one",place="data folder"}': '100e9+0x30',
});

/** Alerts, the series that make them fire by that minute, and like ones that must not. */
const alerts: [name: string, minute: number, firing: Series, silent: Series][] = [
  ['BookingServiceDown', 5, { 'up{job="booking",instance="one"}': '0+0x30' }, server],
  ['BookingServiceAbsent', 5, { 'up{job="other"}': '1+0x30' }, server],
  ['BookingDatabaseDiskFull', 1, { booking_database_disk_full: '1+0x30' }, { booking_database_disk_full: '0+0x30' }],
  ['BookingDiskNearlyFull', 10, disk(5e9), disk(50e9)],
  ['BookingStandbyDown', 5, { booking_standby_up: '0+0x30' }, { booking_standby_up: '1+0x30' }],
  ['BookingStandbyBehind', 10, { booking_standby_lag_seconds: '90+0x30' }, { booking_standby_lag_seconds: '1+0x30' }],
  ['BookingKeyGuessing', 15, { booking_http_wrong_keys_total: '0+20x30' }, { booking_http_wrong_keys_total: '0+2x30' }],
  [
    'BookingMailsFailed',
    5,
    { 'booking_mail_attempts_total{result="failed"}': '0+1x30' },
    { 'booking_mail_attempts_total{result="refused"}': '0+1x30' },
  ],
  [
    'BookingManyRefusedByLimit',
    35,
    { booking_http_rate_limited_total: '0+900x60' },
    { booking_http_rate_limited_total: '0+60x60' },
  ],
  [
    'BookingBackupMissing',
    day + 180,
    { booking_backup_configured: `1+0x${2 * day}` },
    { booking_backup_configured: `1+0x${2 * day}`, booking_backup_age_seconds: `60+0x${2 * day}` },
  ],
];

/** Runs the unit tests of promtool on the rules: alerts that fire at a minute. */
function runRuleTests(rules: string, cases: [name: string, minute: number, series: Series, isFiring: boolean][]) {
  const tests = cases.map(([name, minute, series, isFiring]) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${name}",alertstate="firing"})`,
        eval_time: `${minute}m`,
        exp_samples: isFiring ? [{ labels: '{}', value: 1 }] : [],
      },
    ],
  }));
  const file = join(temporaryFolder(), 'tests.yml');
  writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

test.skipIf(missing)(`alerts fire on their causes, and not without them${missing}`, () => {
  const cases = alerts.flatMap(([name, minute, firing, silent]): Parameters<typeof runRuleTests>[1] => [
    [name, minute, firing, true],
    [name, minute, silent, false],
  ]);
  const { status, output } = runRuleTests(resolve('docs/deploy/alerts.yml'), cases);
  expect(status, output).toBe(0);
});

test.skipIf(missing)(`a rule without absent() does not tell a target that vanished${missing}`, () => {
  const rules = readFileSync('docs/deploy/alerts.yml', 'utf8');
  const changed = rules.replace('absent(up{job="booking"})', 'up{job="booking"} == 0');
  expect(changed).not.toBe(rules);
  const file = join(temporaryFolder(), 'alerts.yml');
  writeFileSync(file, changed);
  const [name, minute, firing] = alerts.find(([one]) => one === 'BookingServiceAbsent')!;
  expect(runRuleTests(file, [[name, minute, firing, true]]).status).not.toBe(0);
});
