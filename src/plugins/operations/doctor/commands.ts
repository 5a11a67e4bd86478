import { Option, type Command } from 'commander';
import { findClocksAhead, clockWarning, type ClockAhead } from '../../../database/clock.ts';
import { isMigrated } from '../../../database/migrate.ts';
import { checkCounters, type Report } from '../../../domains/records/counters/service.ts';
import type { Finding } from '../../../interfaces/plugin/checks.ts';
import { loadWatched } from '../../../interfaces/plugin/define-plugin.ts';
import { checkSystem, listChecks } from './system.ts';
import { describeError } from '../../../database/describe-error.ts';
import {
  command,
  id,
  run,
  table,
  type CommandContext,
  type CommandResult,
  type Options,
} from '../../../interfaces/cli/run.ts';

const parts = ['system', 'data'] as const;
type DoctorOptions = Options & { provider?: number; fix?: boolean; only?: (typeof parts)[number] };

export async function examineSystem({ database, config }: CommandContext, { plugins }: Options) {
  const checks = listChecks(await loadWatched(plugins, config));
  return checkSystem({ pool: database.pool, config, database }, checks);
}

export function doctorCommand(program: Command) {
  command(program, 'doctor', 'Check the database, the configuration, and stored seats, totals and balances')
    .option('--provider <id>', 'only data of this provider', id)
    .option('--fix', 'store the recounted values where they differ')
    .addOption(new Option('--only <part>', 'only the system (fast), or only the data').choices(parts))
    .action((options: DoctorOptions) =>
      run(options, (context) => examine(context, options), { allowUnmigrated: examinesSystem(options) }),
    );
}

const examinesSystem = ({ only, provider }: DoctorOptions) =>
  only === undefined ? provider === undefined : only === 'system';

async function examine(context: CommandContext, options: DoctorOptions): Promise<CommandResult> {
  const { database, getCtx } = context;
  if (options.provider !== undefined) await getCtx(options.provider);
  const findings = examinesSystem(options) ? await examineSystem(context, options) : undefined;
  const hasData = options.only !== 'system' && (await isMigrated(database.pool));
  const data = hasData ? await examineData(context, options) : undefined;
  const failures = [
    ...(findings ? systemFailures(findings) : []),
    ...(data?.failure === undefined ? [] : [data.failure]),
  ];
  return {
    json: { ...(findings && { checks: findings }), ...data?.json },
    text: [...(findings ? [table(findings.map(toRow), '')] : []), ...(data ? [data.text] : [])].join('\n'),
    ...(failures.length > 0 && { failure: failures.join('; ') }),
  };
}

const toRow = ({ level, check, message }: Finding) => ({ level, check, message });

function systemFailures(findings: Finding[]) {
  const errors = findings.filter(({ level }) => level === 'error');
  return errors.length === 0 ? [] : [counted(errors, 'check found an error', 'checks found errors')];
}

async function examineData({ database }: CommandContext, { provider, fix }: DoctorOptions) {
  const { failure, ...report } = await checkCounters(database, { providerId: provider, fix });
  const ahead = await findClocksAhead(database.pool, provider);
  return {
    json: { ...report, clocks_ahead: ahead },
    text: [toText(report), ...clockLines(ahead)].join('\n'),
    failure: report.differences.length === 0 || report.fixed ? undefined : toFailure(report.differences, failure),
  };
}
function toFailure(differences: Report['differences'], cause: unknown) {
  if (cause !== undefined)
    return `not all counters could be corrected: ${describeError(cause)}; run \`doctor\` to list the rest`;
  return `${counted(differences, 'stored counter differs', 'stored counters differ')} from the recount; correct with \`doctor --fix\``;
}

function toText({ checked, differences, fixed }: Report) {
  const counts = Object.entries(checked).map(([items, count]) => `${count} ${items.replaceAll('_', ' ')}`);
  const summary = `Checked ${counts.join(', ')}`;
  if (differences.length === 0) return `${summary}: no difference`;
  const result = fixed
    ? counted(differences, 'counter was wrong and has been corrected', 'counters were wrong and have been corrected')
    : counted(differences, 'counter is wrong', 'counters are wrong');
  return `${table(differences, '')}\n${summary}: ${result}`;
}

/** Reported but not fixed: setting a clock back would repeat data versions that clients already have. */
const clockLines = (ahead: ClockAhead[]) =>
  ahead.length === 0
    ? []
    : [
        `Warning: ${clockWarning({ count: ahead.length, seconds: ahead[0]!.seconds })!.replace(/:.*/, '')}`,
        table(
          ahead.map(({ provider_id, seconds }) => ({ provider_id: provider_id ?? 'shared', seconds })),
          '',
        ),
      ];

const counted = ({ length }: unknown[], singular: string, plural: string) =>
  `${length} ${length === 1 ? singular : plural}`;
