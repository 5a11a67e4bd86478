import type { Command } from 'commander';
import { clocksAhead, clockWarning, type ClockAhead } from '../database/clock.ts';
import { examine, type Report } from '../doctor/examine.ts';
import { describeError } from '../runtime/describe-error.ts';
import { command, id, run, table, type Options } from './connect.ts';

/** Stored figures against a recount. */
export function doctorCommand(program: Command) {
  command(program, 'doctor', 'Count seats, totals and balances again, and compare them with what is stored')
    .option('--provider <id>', 'of this provider only', id)
    .option('--fix', 'store what was counted where it differs')
    .action((options: Options & { provider?: number; fix?: boolean }) =>
      run(options, async ({ database, getCtx }) => {
        if (options.provider !== undefined) await getCtx(options.provider);
        const asked = { providerId: options.provider, fix: options.fix };
        const { failure: refusal, ...report } = await examine(database, asked);
        const ahead = await clocksAhead(database.pool, options.provider);
        const text = [diagnosis(report), ...clockLines(ahead)].join('\n');
        const answer = { json: { ...report, clocks_ahead: ahead }, text };
        if (report.differences.length === 0 || report.fixed) return answer;
        const differ = counted(report.differences, 'stored figure differs', 'stored figures differ');
        const failure =
          refusal === undefined
            ? `${differ} from the recount; \`doctor --fix\` mends that`
            : `not all of it could be mended: ${describeError(refusal)}; \`doctor\` tells what is left`;
        return { ...answer, failure };
      }),
    );
}

function diagnosis({ checked, differences, fixed }: Report) {
  const counts = Object.entries(checked).map(([items, count]) => `${count} ${items.replaceAll('_', ' ')}`);
  const logged = `Checked ${counts.join(', ')}`;
  if (differences.length === 0) return `${logged}: no difference`;
  const differ = fixed
    ? counted(differences, 'figure differed, and is mended', 'figures differed, and are mended')
    : counted(differences, 'figure differs', 'figures differ');
  return `${table(differences, '')}\n${logged}: ${differ}`;
}

/** Clocks that are ahead make no figure wrong, and setting one back would repeat versions that clients hold. */
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

const counted = ({ length }: unknown[], one: string, more: string) => `${length} ${length === 1 ? one : more}`;
