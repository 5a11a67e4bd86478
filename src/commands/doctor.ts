import type { Command } from 'commander';
import { findClocksAhead, clockWarning, type ClockAhead } from '../database/clock.ts';
import { checkCounters, type Report } from '../doctor/examine.ts';
import { describeError } from '../runtime/describe-error.ts';
import { command, id, run, table, type Options } from './connect.ts';

export function doctorCommand(program: Command) {
  command(program, 'doctor', 'Recount seats, totals and balances and compare them with the stored values')
    .option('--provider <id>', 'only data of this provider', id)
    .option('--fix', 'store the recounted values where they differ')
    .action((options: Options & { provider?: number; fix?: boolean }) =>
      run(options, async ({ database, getCtx }) => {
        if (options.provider !== undefined) await getCtx(options.provider);
        const { failure, ...report } = await checkCounters(database, {
          providerId: options.provider,
          fix: options.fix,
        });
        const ahead = await findClocksAhead(database.pool, options.provider);
        const text = [toText(report), ...clockLines(ahead)].join('\n');
        const result = { json: { ...report, clocks_ahead: ahead }, text };
        if (report.differences.length === 0 || report.fixed) return result;
        return { ...result, failure: toFailure(report.differences, failure) };
      }),
    );
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
