import type { Command } from 'commander';
import { examine, type Report } from '../doctor/examine.ts';
import { command, id, run, table, type Options } from './connect.ts';

/** Stored figures against a recount. */
export function doctorCommand(program: Command) {
  command(program, 'doctor', 'Count seats, totals and balances again, and compare them with what is stored')
    .option('--provider <id>', 'of this provider only', id)
    .option('--fix', 'store what was counted where it differs')
    .action((options: Options & { provider?: number; fix?: boolean }) =>
      run(options, async ({ database, ctxOf }) => {
        if (options.provider !== undefined) await ctxOf(options.provider);
        const report = await examine(database, { providerId: options.provider, fix: options.fix });
        const { differences, fixed } = report;
        const failure = `${differences.length} stored figures differ from the recount; \`doctor --fix\` mends them`;
        return { json: report, text: diagnosis(report), ...(differences.length > 0 && !fixed ? { failure } : {}) };
      }),
    );
}

function diagnosis({ checked, differences, fixed }: Report) {
  const counts = Object.entries(checked).map(([items, count]) => `${count} ${items.replaceAll('_', ' ')}`);
  const told = `Checked ${counts.join(', ')}`;
  if (differences.length === 0) return `${told}: no difference`;
  return `${table(differences, '')}\n${told}: ${differences.length} figures ${fixed ? 'differed, and are mended' : 'differ'}`;
}
