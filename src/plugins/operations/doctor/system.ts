import { getErrorCode, getRootCause } from '../../../core/database-errors.ts';
import { clockCheck, migrationCheck, standbyCheck } from './ages.ts';
import type { Plugin } from '../../../interfaces/plugin/define-plugin.ts';
import {
  error,
  skipped,
  type CheckContext,
  type Finding,
  type Result,
  type SystemCheck,
} from '../../../interfaces/plugin/checks.ts';
import { createDiskCheck } from './disks.ts';
import { connectionCheck, tableCheck, transactionCheck } from './load.ts';
import { createPromiseCheck } from './promises.ts';
import { roleCheck } from './role.ts';
import { collationCheck, encodingCheck, settingsCheck, timeZoneCheck, versionCheck } from './server.ts';

/** With those of all plugins; docs/operate/operating.md lists them too. */
export async function loadChecks(plugins: readonly Plugin[]): Promise<SystemCheck[]> {
  const added = await Promise.all(plugins.flatMap(({ checks }) => checks?.() ?? []));
  return [
    ...[versionCheck, settingsCheck, encodingCheck, collationCheck, timeZoneCheck, clockCheck],
    ...[migrationCheck, roleCheck, connectionCheck, tableCheck, transactionCheck, createDiskCheck(plugins)],
    ...[standbyCheck, ...added.flatMap(({ checks = [] }) => checks)],
    createPromiseCheck(added.flatMap(({ conditions = [] }) => conditions)),
  ];
}

/** Examines the database server and the configuration. A check that fails is a finding of its own. */
export async function checkSystem(context: CheckContext, checks: SystemCheck[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { check, run } of checks) {
    const results = await Promise.resolve()
      .then(() => run(context))
      .catch((failure: unknown) => [describeFailure(failure)]);
    findings.push(...results.map((result) => ({ check, ...result })));
  }
  return findings;
}

function describeFailure(failure: unknown): Result {
  const code = getErrorCode(failure);
  if (code === '42501') return skipped('This role may not look: it lacks a right');
  // The table, its schema or a function is missing.
  if (['42P01', '3F000', '42883'].includes(code)) return skipped('The database does not have what this needs');
  const { message } = getRootCause(failure) as Error;
  return error(`The check failed: ${code === '' ? message : `SQLSTATE ${code}`}`);
}
